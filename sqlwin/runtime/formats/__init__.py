"""Rows of files and callers, decoded by one rule for each form: docs/formats.md has the rules."""
