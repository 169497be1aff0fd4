"""The agents we serve: what each of them says, in our words."""
