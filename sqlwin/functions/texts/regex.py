"""Regular expressions, of Java."""

from __future__ import annotations

from sqlwin.functions.entry import Function

FUNCTIONS: tuple[Function, ...] = ()
