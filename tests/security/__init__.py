"""What an enemy could try: forged memories, poisoned sources, strange repositories."""
