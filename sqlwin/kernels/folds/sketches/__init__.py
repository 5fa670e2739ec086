"""Approximate answers from sketches of bounded size."""
