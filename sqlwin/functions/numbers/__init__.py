"""Functions and operators of numbers."""
