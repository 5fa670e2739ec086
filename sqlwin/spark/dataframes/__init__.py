"""Queries over streaming DataFrames: their declarations, rows packed and results unpacked."""
