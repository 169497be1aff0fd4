"""Past sessions word for word, in `sessions.db`."""
