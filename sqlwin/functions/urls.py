"""URLs: taken apart, encoded and decoded."""

from __future__ import annotations

from sqlwin.functions.entry import Function

FUNCTIONS: tuple[Function, ...] = ()
