"""What the options of a stream say whose rows are in the text itself.

>>> list(series_of(1, 10, 3)), list(series_of(3, 1, 1))
([1, 4, 7, 10], [])
"""

from __future__ import annotations

ROWS = "rows"
"""The option that has the rows of VALUES: JSON lists of the engine's texts."""
MOST = 1_000_000
"""Rows of a series."""


def series_of(start: int, last: int, step: int) -> range:
    """With its last value, where a step leads there."""
    return range(start, last + (1 if step > 0 else -1), step)
