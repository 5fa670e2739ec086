"""Columns of a join's rows, named once: of rows with numbers, and of rows that are emitted by
themselves, padded ones and those of ASOF.

__pos        the number of a row, under ROWS
__held       of a row that is numbered, whether WHERE is true of it; else it is a blank
__out        whether a result of the row is emitted and not retracted
__wanted     whether one is to be
__replaced   another row has taken its position
__live       it is there; not one that was retracted or replaced
"""

from __future__ import annotations

POS, PASSED_WHERE = "__pos", "__held"
OUT, WANTED, REPLACED, LIVE = "__out", "__wanted", "__replaced", "__live"
