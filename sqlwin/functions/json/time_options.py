"""Dates and instants in texts of JSON and CSV, by the options `dateFormat` and `timestampFormat`.

Without them they are written in ISO's form, instants with milliseconds, and read as CAST reads.

>>> printers({"dateformat": "dd/MM/yyyy"})[DATE](19782), printers({})[TIMESTAMP](-1)
('29/02/2024', '1969-12-31T23:59:59.999Z')
>>> readers({"dateformat": "dd/MM/yyyy"})[DATE]("29/02/2024"), readers({})[DATE]("2024-2-29")
(19782, 19782)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
import pyarrow as pa

from sqlwin.functions.core.typed import Refused
from sqlwin.functions.core.types import DATE
from sqlwin.functions.instants.calendar import DAY
from sqlwin.functions.instants.iso import days_of, iso_date, micros_of
from sqlwin.functions.instants.patterns import pattern
from sqlwin.functions.instants.printing import printed
from sqlwin.functions.instants.reading import read
from sqlwin.schema import TIMESTAMP

FORMATS = ("dateFormat", "timestampFormat")
Print = Callable[[int], str]
Read = Callable[[str], int | None]


def checked(options: Mapping[str, str], reads: bool) -> None:
    """Refused where a format is none. options: names in lower case."""
    for name in FORMATS:
        if name.lower() in options:
            try:
                pattern(options[name.lower()], reads)
            except ValueError as error:
                raise Refused(str(error), legal=f"MAP('{name}', 'dd/MM/yyyy')") from None


def printers(options: Mapping[str, str]) -> dict[pa.DataType, Print]:
    """Of days, and of microseconds, since 1970."""
    date, instant = (options.get(name.lower()) for name in FORMATS)
    return {
        DATE: iso_date if date is None else lambda day: _printed(day * DAY, date),
        TIMESTAMP: iso_millis if instant is None else lambda micros: _printed(micros, instant),
    }


def readers(options: Mapping[str, str]) -> dict[pa.DataType, Read]:
    date, instant = (options.get(name.lower()) for name in FORMATS)
    return {
        DATE: days_of if date is None else lambda text: _day(text, date),
        TIMESTAMP: micros_of if instant is None else lambda text: _read(text, instant),
    }


@lru_cache(maxsize=4096)
def _printed(micros: int, text: str) -> str:
    made: str = printed(np.array([micros]), pattern(text))[0].as_py()
    return made


def _read(text: str, named: str) -> int | None:
    return read(text, pattern(named, reads=True))


def _day(text: str, named: str) -> int | None:
    found = _read(text, named)
    return None if found is None else found // DAY


def iso_millis(micros: int) -> str:
    day, rest = divmod(micros, DAY)
    seconds, below = divmod(rest, 1_000_000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{iso_date(day)}T{clock}.{below // 1000:03}Z"
