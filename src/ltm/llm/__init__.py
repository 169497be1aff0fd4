"""Optional language models: redaction, daily cap, and two backends."""
