"""Nexmark's auction site as a source: people, auctions and bids that are computed, not stored."""
