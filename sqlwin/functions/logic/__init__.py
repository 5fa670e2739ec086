"""Conditions and comparisons."""
