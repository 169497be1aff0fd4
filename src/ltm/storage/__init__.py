"""Where memories live: files, the index derived from them, and the store that sees both."""
