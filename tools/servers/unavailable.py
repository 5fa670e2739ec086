"""What is raised where a server cannot be had on this machine."""

from __future__ import annotations


class Unavailable(Exception):
    """Its text says what is missing."""
