"""Dates, instants and what clocks show in texts of JSON and CSV, by the options of their formats.

Without them they are written in ISO's form, with milliseconds, and read as CAST reads; but what
a clock shows is in no text that says a zone.

>>> printers({"dateformat": "dd/MM/yyyy"})[DATE](19782), printers({})[TIMESTAMP](-1)
('29/02/2024', '1969-12-31T23:59:59.999Z')
>>> readers({"dateformat": "dd/MM/yyyy"})[DATE]("29/02/2024"), readers({})[DATE]("2024-2-29")
(19782, 19782)
>>> readers({})[TIMESTAMP_NTZ]("1970-01-01 00:00:01"), printers({})[TIMESTAMP_NTZ](-1)
(1000000, '1969-12-31T23:59:59.999')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import numpy as np
import pyarrow as pa

from sqlwin.functions.core.typed import Refused
from sqlwin.functions.core.types import DATE
from sqlwin.functions.instants.calendar import DAY
from sqlwin.functions.instants.iso import clock_of, days_of, iso_date, micros_of
from sqlwin.functions.instants.patterns import names_zone, pattern
from sqlwin.functions.instants.printing import printed
from sqlwin.functions.instants.reading import read
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

FORMATS = ("dateFormat", "timestampFormat", "timestampNTZFormat")
Print = Callable[[int], str]
Read = Callable[[str], int | None]


def checked(options: Mapping[str, str], reads: bool) -> None:
    """Refused where a format is none. options: names in lower case."""
    for name in FORMATS:
        if name.lower() in options:
            try:
                zoned = names_zone(pattern(options[name.lower()], reads))
            except ValueError as error:
                raise Refused(str(error), legal=f"MAP('{name}', 'dd/MM/yyyy')") from None
            if zoned and name == FORMATS[2]:
                message = "a TIMESTAMP_NTZ is of no zone, which its format prints or reads"
                raise Refused(message, legal=f"MAP('{name}', 'dd/MM/yyyy HH:mm')")


def printers(options: Mapping[str, str]) -> dict[pa.DataType, Print]:
    """Of days, and of microseconds, since 1970."""
    date, instant, clock = (options.get(name.lower()) for name in FORMATS)
    return {
        DATE: iso_date if date is None else lambda day: _printed(day * DAY, date),
        TIMESTAMP: iso_millis if instant is None else partial(_printed, text=instant),
        TIMESTAMP_NTZ: iso_clock if clock is None else partial(_printed, text=clock),
    }


def readers(options: Mapping[str, str]) -> dict[pa.DataType, Read]:
    date, instant, clock = (options.get(name.lower()) for name in FORMATS)
    return {
        DATE: days_of if date is None else lambda text: _day(text, date),
        TIMESTAMP: micros_of if instant is None else partial(_read, named=instant),
        TIMESTAMP_NTZ: partial(clock_of, zoned=False)
        if clock is None
        else partial(_read, named=clock),
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
    return f"{iso_clock(micros)}Z"


def iso_clock(micros: int) -> str:
    day, rest = divmod(micros, DAY)
    seconds, below = divmod(rest, 1_000_000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{iso_date(day)}T{clock}.{below // 1000:03}"
