"""Columns of rows that a join emits by themselves, named once: padded ones, and those of ASOF.

__out        whether a result of the row is emitted and not retracted
__wanted     whether one is to be
__replaced   another row has taken its position
__live       it is there; not one that was retracted or replaced
"""

from __future__ import annotations

OUT, WANTED, REPLACED, LIVE = "__out", "__wanted", "__replaced", "__live"
