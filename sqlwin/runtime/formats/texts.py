"""Texts as values: what a CSV field, a JSON string or number, or a pushed text means.

One function for each type, over a whole column. Invariant: what becomes of a text
depends on that text and the type alone, never on the texts beside it. NULL is
what is no such value, or was NULL.

>>> of_texts(pl.Series(["7", " +7 ", "7.0", "x", None]), pa.int64()).to_list()
[7, 7, None, None, None]
>>> of_texts(pl.Series(["1.5", "1e1", "1.005", "99.999"]), pa.decimal128(4, 2)).to_list()
[Decimal('1.50'), Decimal('10.00'), None, None]
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal, Inexact, InvalidOperation

import polars as pl
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.polars_frames import polars_type
from sqlwin.runtime.formats.instants import instants_of_texts, wall_clocks_of_texts
from sqlwin.schema import TIMESTAMP_NTZ

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
INFINITE = r"(?i)^[+-]?inf(inity)?$"
DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
MOST_DIGITS = 40
"""More than any integer has."""
_EXACTLY = Context(prec=100, traps=[Inexact, InvalidOperation])


def of_texts(texts: pl.Series, type_: pa.DataType) -> pl.Series:
    """A column of `type_`; white space around a value that is no text itself is left out."""
    if pa.types.is_string(type_):
        return texts
    if pa.types.is_binary(type_):
        return texts.cast(pl.Binary)
    if type_ == TIMESTAMP_NTZ:
        return wall_clocks_of_texts(texts)
    if pa.types.is_timestamp(type_):
        return instants_of_texts(texts)
    bare = texts.str.strip_chars()
    if pa.types.is_decimal(type_):
        return _decimals(bare, type_)
    if pa.types.is_floating(type_):
        return _floats(bare, type_)
    if type_ in _OTHERS:
        return _OTHERS[type_](bare)
    return bare.cast(polars_type(type_), strict=False)


def _booleans(texts: pl.Series) -> pl.Series:
    words = {"true": True, "false": False}
    return texts.str.to_lowercase().replace_strict(words, default=None, return_dtype=pl.Boolean)


def _days(texts: pl.Series) -> pl.Series:
    """Only whole ISO dates: `%m` alone would take one digit too."""
    return only(texts, texts.str.contains(DAY)).str.to_date("%Y-%m-%d", strict=False)


_OTHERS: dict[pa.DataType, Callable[[pl.Series], pl.Series]] = {
    pa.bool_(): _booleans,
    pa.date32(): _days,
}


def _floats(texts: pl.Series, type_: pa.DataType) -> pl.Series:
    """The nearest value; a number beyond the largest is none, only the word is infinite."""
    found = texts.cast(polars_type(type_), strict=False)
    if not found.is_infinite().any():
        return found
    return only(found, found.is_finite() | found.is_nan() | texts.str.contains(INFINITE))


def _decimals(texts: pl.Series, type_: pa.DataType) -> pl.Series:
    """Exact: a text that needs more digits than the type has is no value of it."""
    plain = _plain(type_.precision - type_.scale, type_.scale)
    fits = texts.str.contains(plain)
    found = _arrow_decimals(only(texts, fits), type_)
    rest = only(texts, ~fits & texts.str.contains(NUMBER))
    if rest.null_count() == len(rest):
        return found
    exact = [None if text is None else _exact(text, type_) for text in rest]
    return _first(found, pl.Series(values=pa.array(exact, type_)))


def _plain(whole: int, fraction: int) -> str:
    """Digits that fit however they are; others are looked at one by one."""
    if not whole:
        return rf"^[+-]?0?\.[0-9]{{1,{fraction}}}$"
    behind = rf"(\.[0-9]{{1,{fraction}}})?" if fraction else ""
    return rf"^[+-]?[0-9]{{1,{whole}}}{behind}$"


def _arrow_decimals(texts: pl.Series, type_: pa.DataType) -> pl.Series:
    return pl.Series(values=pc.cast(texts.to_arrow().cast(pa.string()), type_))


def _exact(text: str, type_: pa.DataType) -> Decimal | None:
    """
    >>> _exact("1e400000", pa.decimal128(38, 0)) is None, _exact("1.50", pa.decimal128(2, 1))
    (True, Decimal('1.5'))
    """
    try:
        number = Decimal(text)
        fits = not number or number.adjusted() < type_.precision - type_.scale
        return number.quantize(Decimal(1).scaleb(-type_.scale), context=_EXACTLY) if fits else None
    except ArithmeticError:  # more digits behind the point, or an exponent beyond any number
        return None


def is_whole(number: Decimal) -> bool:
    """Of no more digits than an integer may have: 1e999999 would fill the memory.

    >>> is_whole(Decimal("1e39")), is_whole(Decimal("1e40")), is_whole(Decimal("1.5"))
    (True, False, False)
    """
    if not number.is_finite() or number.adjusted() >= MOST_DIGITS:
        return False
    return number == number.to_integral_value()


def only(values: pl.Series, where: pl.Series) -> pl.Series:
    """NULL elsewhere."""
    frame = pl.DataFrame({"v": values, "w": where})
    return frame.select(pl.when(pl.col("w")).then(pl.col("v"))).to_series()


def _first(values: pl.Series, others: pl.Series) -> pl.Series:
    frame = pl.DataFrame({"v": values, "o": others})
    return frame.select(pl.coalesce("v", "o")).to_series()
