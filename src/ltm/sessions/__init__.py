"""What an agent did: its transcripts, and the figures of a session."""
