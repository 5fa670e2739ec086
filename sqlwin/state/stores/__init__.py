"""Stores in memory: of records, and of windows and sessions as KIP-428 has them."""
