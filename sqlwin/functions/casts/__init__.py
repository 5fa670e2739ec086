"""CAST and TRY_CAST between all types, and what operands become beside each other."""
