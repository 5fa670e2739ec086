"""Patterns: of dates, instants and numbers, as text and read from it."""

from __future__ import annotations

from sqlwin.functions.core.entry import Function, Overload
from sqlwin.functions.formats.numbers import TEXTS
from sqlwin.functions.times.foreign import FOREIGN
from sqlwin.functions.times.formats import LTZ, TIME_FORMATS

FUNCTIONS: tuple[Function, ...] = (*TIME_FORMATS, *FOREIGN, *TEXTS)
MORE: dict[str, tuple[Overload, ...]] = {"to_timestamp_ltz": LTZ}
