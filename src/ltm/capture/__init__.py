"""What is said becomes memories: from a person's own words, later from whole sessions."""
