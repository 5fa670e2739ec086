"""How much a property draws: a part of what the profile in `tests/conftest.py` says."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

MORE = 12
"""The examples of `make test-more`."""


def one_in(parts: int, **more: Any) -> settings:
    """A `parts`-th of the examples, for a property that is checked for many calls or is slow."""
    return settings(max_examples=max(2, settings().max_examples // parts), **more)


def seeds(most: int) -> range:
    """Of a test marked as drawn: all in `make test-more`, of them a third in `make test`."""
    return range(-(-most * settings().max_examples // MORE))
