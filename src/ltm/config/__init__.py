"""Options and the TOML files that set them."""
