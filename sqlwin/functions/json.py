"""JSON and CSV texts."""

from __future__ import annotations

from sqlwin.functions.entry import Function

FUNCTIONS: tuple[Function, ...] = ()
