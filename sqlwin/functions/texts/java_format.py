"""FORMAT_STRING: Java's Formatter, over values whose types are known.

A format has the form `%[number$][flags][width][.precision]conversion`. What Java refuses is
refused for the row, with the name of Java's exception: `%d` of a DOUBLE, more formats than values.
Values of FLOAT and DOUBLE are given as Spark writes them. Dates and times are numbers to it (days,
microseconds), as Spark hands them over.

>>> formatted("%05d|%-5s|%,.2f", [42, "ab", "1234.5"], ["int", "string", "double"])
'00042|ab   |1,234.50'
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin.functions.casts.texts import nearest
from sqlwin.functions.core.limits import check_bytes
from sqlwin.functions.texts.format_parts import Part, Wrong, mismatch, parts
from sqlwin.functions.texts.murmur import MURMUR, hashed

_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_EXACT = Context(prec=800)


def formatted(format_: str, values: Sequence[Any], types: Sequence[str]) -> str:
    """types: names of Spark's. ValueError as Java's Formatter raises."""
    made: list[str] = []
    for part, at in numbered(format_, len(values)):
        made.append(part if isinstance(part, str) else written(part, values[at], types[at]))
    return "".join(made)


def numbered(format_: str, count: int) -> Iterator[tuple[str | Part, int]]:
    """Its parts, with the number of the value that each is of, of so many."""
    last, following = -1, 0
    for part in parts(format_):
        if isinstance(part, str):
            yield part, -1
            continue
        if part.conversion in "%n":
            yield part.padded("%") if part.conversion == "%" else "\n", -1
            continue
        if part.index is None:
            last, following = following, following + 1
        elif part.index >= 0:
            last = part.index
        if not 0 <= last < count:
            raise Wrong("MissingFormatArgumentException", f"Format specifier '%{part.conversion}'")
        yield part, last


def written(part: Part, value: Any, type_: str) -> str:
    lower = part.conversion.lower()
    write = _CONVERSIONS.get(lower)
    if write is None:
        if value is None and lower[0] == "t":
            return part.padded("null" if part.conversion[0] == "t" else "NULL")
        raise mismatch(part, type_)
    if value is None and lower != "b":
        text = part.cut("null") if lower not in "doxc" else part.padded("null")
    else:
        text = write(part, value, type_)
    return text if part.conversion == lower else text.upper()


def _boolean(part: Part, value: Any, type_: str) -> str:
    held = value is not None and (value if type_ == "boolean" else True)
    return part.cut("true" if held else "false")


def _string(part: Part, value: Any, type_: str) -> str:
    if "#" in part.flags:
        raise Wrong("FormatFlagsConversionMismatchException", "Conversion = s, Flags = #")
    return part.cut(_java(value, type_))


def _java(value: Any, type_: str) -> str:
    """Java's toString of it; of FLOAT and DOUBLE the text is already Spark's."""
    if type_ == "boolean":
        return "true" if value else "false"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _hash(part: Part, value: Any, type_: str) -> str:
    """Of a text as HASH has it, of a number as Java's hashCode."""
    if type_ == "string":
        number = int(hashed(MURMUR, [pa.array([value], pa.string())])[0])
    elif type_ in _BITS and type_ != "bigint":
        number = value
    else:
        raise mismatch(part, type_)
    return part.cut(f"{number % 2**32:x}")


def _character(part: Part, value: Any, type_: str) -> str:
    if type_ not in ("tinyint", "smallint", "int"):
        raise mismatch(part, type_)
    if not 0 <= value <= 0x10FFFF or 0xD800 <= value < 0xE000:
        raise Wrong("IllegalFormatCodePointException", f"Code point = 0x{value % 2**32:x}")
    return part.padded(chr(value))


def _whole(part: Part, value: Any, type_: str) -> str:
    if part.precision is not None:
        raise Wrong("IllegalFormatPrecisionException", str(part.precision))
    if type_ not in _BITS:
        raise mismatch(part, type_)
    if part.conversion == "d":
        return _signed(part, value < 0, f"{abs(value):{',' if ',' in part.flags else ''}d}")
    return _unsigned(part, value % 2 ** _BITS[type_])


def _unsigned(part: Part, value: int) -> str:
    if set(part.flags) & set("+ ,("):
        message = f"Conversion = {part.conversion}, Flags = {part.flags}"
        raise Wrong("FormatFlagsConversionMismatchException", message)
    octal = part.conversion == "o"
    prefix = ("0" if octal else "0x") if "#" in part.flags else ""
    digits = f"{value:o}" if octal else f"{value:x}"
    if "0" in part.flags:
        digits = digits.rjust(part.width - len(prefix), "0")
    return part.padded(prefix + digits)


def _signed(part: Part, negative: bool, digits: str) -> str:
    """Digits with their sign, and zeros before them."""
    before, after = "-" if negative else "", ""
    if negative and "(" in part.flags:
        before, after = "(", ")"
    elif not negative:
        before = "+" if "+" in part.flags else " " if " " in part.flags else ""
    if "0" in part.flags:
        digits = digits.rjust(part.width - len(before) - len(after), "0")
    return part.padded(before + digits + after)


def _real(part: Part, value: Any, type_: str) -> str:
    if type_ not in ("float", "double"):
        raise mismatch(part, type_)
    number = float(value)
    negative = math.copysign(1.0, number) < 0 and not math.isnan(number)
    if not math.isfinite(number):
        word = "NaN" if math.isnan(number) else "Infinity"
        signs = "" if math.isnan(number) else "+( "
        flags = "".join(flag for flag in part.flags if flag in signs + "-")
        unpadded = Part(part.conversion, flags, part.width)
        return _signed(unpadded, negative, word)
    if type_ == "float":
        number = float(np.float32(value))
    # the shortest decimal that is the number, as Java rounds from it
    return _signed(part, negative, _digits(part, abs(Decimal(nearest(repr(number), float)))))


def _digits(part: Part, number: Decimal) -> str:
    places = 6 if part.precision is None else part.precision
    check_bytes(places)
    kind = part.conversion.lower()
    if kind == "f":
        made = number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _context(places))
        text = f"{made:{',' if ',' in part.flags else ''}f}"
        return text + "." * ("#" in part.flags and not places)
    if kind == "e":
        return _scientific(number, places)
    return _general(part, number, places or 1)


def _context(places: int) -> Context:
    return _EXACT if places < 400 else Context(prec=places + 400)


def _scientific(number: Decimal, places: int) -> str:
    context = Context(prec=places + 1, rounding=ROUND_HALF_UP)
    rounded = context.plus(number) if number else Decimal(0)
    exponent = rounded.adjusted() if number else 0
    mantissa = rounded.scaleb(-exponent, context).quantize(
        Decimal(1).scaleb(-places), ROUND_HALF_UP, _context(places)
    )
    return f"{mantissa:f}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _general(part: Part, number: Decimal, digits: int) -> str:
    """As `f` from 0.0001 up to 10 ** precision, with so many digits in all, else as `e`."""
    rounded = Context(prec=digits, rounding=ROUND_HALF_UP).plus(number)
    if not number or (Decimal("0.0001") <= rounded < Decimal(10) ** digits):
        places = max(0, digits - 1 - (rounded.adjusted() if number else 0))
        return _digits(Part("f", part.flags, precision=places), number)
    return _scientific(number, digits - 1)


def _hexadecimal(part: Part, value: Any, type_: str) -> str:
    if type_ not in ("float", "double"):
        raise mismatch(part, type_)
    if part.precision is not None:
        raise ValueError("FORMAT_STRING has no precision of %a")
    number = float(value)
    if not math.isfinite(number):
        return _real(part, value, type_)
    made = abs(number).hex().replace("p+", "p")
    made = re.sub(r"\.?0*p", lambda found: ".0p" if "." not in made else "p", made, count=1)
    if "." not in made:
        made = made.replace("p", ".0p")
    return _signed(part, math.copysign(1.0, number) < 0, made)


_CONVERSIONS: dict[str, Callable[[Part, Any, str], str]] = {
    "b": _boolean,
    "s": _string,
    "h": _hash,
    "c": _character,
    "d": _whole,
    "o": _whole,
    "x": _whole,
    "f": _real,
    "e": _real,
    "g": _real,
    "a": _hexadecimal,
}
