"""State TTL: entries by key, and the stores whose records go by them."""
