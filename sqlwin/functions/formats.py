"""Patterns: of dates, instants and numbers, as text and read from it."""

from __future__ import annotations

from sqlwin.functions.entry import Function, Overload
from sqlwin.functions.foreign_times import FOREIGN
from sqlwin.functions.numbers_as_text import TEXTS
from sqlwin.functions.time_formats import LTZ, TIME_FORMATS

FUNCTIONS: tuple[Function, ...] = (*TIME_FORMATS, *FOREIGN, *TEXTS)
MORE: dict[str, tuple[Overload, ...]] = {"to_timestamp_ltz": LTZ}
