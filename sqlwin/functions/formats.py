"""Patterns: of dates, instants and numbers, as text and read from it."""

from __future__ import annotations

from sqlwin.functions.entry import Function
from sqlwin.functions.numbers_as_text import TEXTS
from sqlwin.functions.time_formats import TIME_FORMATS

FUNCTIONS: tuple[Function, ...] = (*TIME_FORMATS, *TEXTS)
