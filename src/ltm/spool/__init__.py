"""What hooks write and read: events, prepared texts, the log."""
