"""What a memory is: pure functions and frozen dataclasses, standard library only, no I/O."""
