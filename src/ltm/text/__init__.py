"""Pure text functions: search terms, similarity, sentences, dates, display."""
