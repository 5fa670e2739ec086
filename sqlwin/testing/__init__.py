"""Goldens: tests of queries as files, which `sqlwin test` and pytest run on either host.

The format is the docstring of `sqlwin.testing.golden`; docs/testing.md shows its use.
"""
