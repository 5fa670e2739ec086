"""Instants printed by a pattern, all rows at once: each piece of it is a column of texts.

>>> from sqlwin.functions.instants.patterns import pattern
>>> instants = np.array([1709201472123456])
>>> printed(instants, pattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX EEEE, QQQ")).to_pylist()
['2024-02-29T10:11:12.123Z Thursday, Q1']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.types import STRING
from sqlwin.functions.instants.calendar import DAY, MONTHS, WEEKDAYS, Ints, civil, days, weekday
from sqlwin.functions.instants.patterns import Letters, Optional, Piece, Text, has

_UTC = {
    "x": "+00",
    "xx": "+0000",
    "xxx": "+00:00",
    "xxxx": "+0000",
    "xxxxx": "+00:00",
    **{"X" * count: "Z" for count in range(1, 6)},
    **{"Z" * count: "+0000" for count in range(1, 4)},
    "ZZZZ": "GMT",
    "ZZZZZ": "Z",
    "O": "GMT",
    "OOOO": "GMT",
    "VV": "UTC",
    **dict.fromkeys(("z", "zz", "zzz", "v"), "UTC"),
    **dict.fromkeys(("zzzz", "vvvv"), "Coordinated Universal Time"),
}
_QUARTERS = ("1st quarter", "2nd quarter", "3rd quarter", "4th quarter")


class _Fields:
    """Of instants; each is computed when it is wanted. of_era: years count within one."""

    def __init__(self, instants: Ints, of_era: bool) -> None:
        self.days, self.time = np.divmod(instants, DAY)
        self.of_era = of_era

    @cached_property
    def civil(self) -> tuple[Ints, Ints, Ints]:
        return civil(self.days)

    @property
    def year(self) -> Ints:
        year = self.civil[0]
        return np.where(year > 0, year, 1 - year) if self.of_era else year

    @property
    def day_of_year(self) -> Ints:
        found: Ints = self.days - days(self.civil[0], 1, 1) + 1
        return found

    @cached_property
    def hour(self) -> Ints:
        return self.time // 3_600_000_000


_NUMBERS: dict[str, Callable[[_Fields], Ints]] = {
    "M": lambda f: f.civil[1],
    "L": lambda f: f.civil[1],
    "d": lambda f: f.civil[2],
    "D": lambda f: f.day_of_year,
    "Q": lambda f: (f.civil[1] + 2) // 3,
    "q": lambda f: (f.civil[1] + 2) // 3,
    "F": lambda f: (f.civil[2] - 1) % 7 + 1,
    "H": lambda f: f.hour,
    "k": lambda f: np.where(f.hour == 0, 24, f.hour),
    "h": lambda f: (f.hour + 11) % 12 + 1,
    "K": lambda f: f.hour % 12,
    "m": lambda f: f.time // 60_000_000 % 60,
    "s": lambda f: f.time // 1_000_000 % 60,
}
_WORDS: dict[str, tuple[Callable[[_Fields], Ints], dict[int, tuple[str, ...]]]] = {
    "M": (lambda f: f.civil[1] - 1, {3: tuple(m[:3] for m in MONTHS), 4: MONTHS}),
    "L": (lambda f: f.civil[1] - 1, {3: tuple(m[:3] for m in MONTHS), 4: MONTHS}),
    "Q": (lambda f: (f.civil[1] - 1) // 3, {3: ("Q1", "Q2", "Q3", "Q4"), 4: _QUARTERS}),
    "q": (lambda f: (f.civil[1] - 1) // 3, {3: ("Q1", "Q2", "Q3", "Q4"), 4: _QUARTERS}),
    "E": (
        lambda f: weekday(f.days),
        {**dict.fromkeys((1, 2, 3), tuple(d[:3] for d in WEEKDAYS)), 4: WEEKDAYS},
    ),
    "a": (lambda f: f.hour // 12, {1: ("AM", "PM")}),
    "G": (
        lambda f: (f.civil[0] > 0).astype(np.int64),
        {**dict.fromkeys((1, 2, 3), ("BC", "AD")), 4: ("Before Christ", "Anno Domini")},
    ),
}


def printed(instants: Ints, pieces: tuple[Piece, ...]) -> pa.Array:
    """instants: microseconds since 1970."""
    fields = _Fields(instants, has(pieces, "G"))
    columns = list(_columns(fields, pieces))
    if not any(isinstance(column, pa.Array) for column in columns):
        return pa.array(["".join(columns)] * len(instants), STRING)
    return pc.binary_join_element_wise(*columns, "")


def _columns(fields: _Fields, pieces: tuple[Piece, ...]) -> Iterator[Any]:
    for piece in pieces:
        if isinstance(piece, Text):
            yield piece.text
        elif isinstance(piece, Optional):
            yield from _columns(fields, piece.pieces)
        else:
            yield _column(fields, piece)


def _column(fields: _Fields, piece: Letters) -> Any:
    letter, count = piece.letter, piece.count
    fixed = _UTC.get(str(piece))
    if fixed is not None:
        return fixed
    number, words = _WORDS.get(letter, (None, {}))
    if number is not None and count in words:
        return pa.array(words[count], STRING).take(pa.array(number(fields)))
    if letter == "y":
        return _year(fields.year, count)
    if letter == "S":
        return _fraction(fields.time % 1_000_000, count)
    table = _digits(count)
    values = _NUMBERS[letter](fields)
    if count == 2 and letter == "D":
        return _padded(values, 2)
    return table.take(pa.array(values))


@cache
def _digits(width: int) -> pa.Array:
    """Of each number its digits, with zeros before them up to `width`. Made when first needed:
    `pa.array` imports pandas."""
    many = {1: 400, 2: 100, 3: 1_000, 4: 10_000}[width]
    return pa.array([f"{number:0{width}}" for number in range(many)], STRING)


def _year(years: Ints, count: int) -> pa.Array:
    if count == 2:
        return _digits(2).take(pa.array(np.abs(years) % 100))
    if count == 4 and ((years >= 0) & (years <= 9999)).all():
        return _digits(4).take(pa.array(years))
    made = _padded(np.abs(years), count)
    plus = "+" if count >= 4 else ""
    signs = np.where(years < 0, "-", np.where(years >= 10**count, plus, ""))
    return pc.binary_join_element_wise(pa.array(signs, STRING), made, "")


def _padded(values: Ints, width: int) -> pa.Array:
    return pc.utf8_lpad(pa.array(values).cast(STRING), width, "0")


def _fraction(micros: Ints, count: int) -> pa.Array:
    made = _padded(micros // 10 ** (6 - min(count, 6)), min(count, 6))
    return made if count <= 6 else pc.utf8_rpad(made, count, "0")
