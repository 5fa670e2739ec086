"""Functions of CSV."""
