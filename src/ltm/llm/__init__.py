"""Language models, for those who switch one on: one door, a daily cap, and two ways through it."""
