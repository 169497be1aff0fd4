"""Optional offline text embeddings."""
