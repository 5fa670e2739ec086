"""Numbers printed as FORMAT_NUMBER does: with so many places, or by a pattern of `DecimalFormat`.

Halves go to the even neighbour; a DOUBLE is rounded by its exact value.

>>> with_places(1234567.891, 2), with_places(2.5, 0), by_pattern(-1234.5, "#,##0.00;(#)")
('1,234,567.89', '2', '(1,234.50)')
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache
from math import isinf, isnan

from sqlwin.lazy_dataclass import dataclass

_EXACT = Context(prec=10_000)
_MOST_PLACES = 9_000
_FORM = re.compile(
    r"(?P<prefix>(?:'[^']*'|[^#0,.;'])*)(?P<whole>[#,]*[0,]*)"
    r"(?:\.(?P<fraction>0*#*))?(?P<suffix>(?:'[^']*'|[^#0,.;'])*)\Z"
)
_USUAL = "#,###,###,###,###,###,##0"


def with_places(number: float | int | Decimal, places: int) -> str | None:
    """None where the places are negative."""
    if places < 0:
        return None
    if places > _MOST_PLACES:
        raise ValueError(f"FORMAT_NUMBER takes at most {_MOST_PLACES} places")
    special = _special(number)
    return special or f"{_rounded(number, places):,f}"


def _special(number: float | int | Decimal) -> str:
    if not isinstance(number, float) or not (isnan(number) or isinf(number)):
        return ""
    return "NaN" if isnan(number) else "-∞" if number < 0 else "∞"


def _rounded(number: float | int | Decimal, places: int) -> Decimal:
    """Digits that are not cut off are those that a DOUBLE is printed with."""
    if isinstance(number, float):
        shortest = Decimal(repr(number))
        cut = -int(shortest.as_tuple().exponent) > places
        number = Decimal(number) if cut else shortest
    return Decimal(number).quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN, _EXACT)


@dataclass(frozen=True)
class _Form:
    """least, fewest, most: digits of the whole part, and of the fraction."""

    prefix: str
    suffix: str
    negative: tuple[str, str]
    least: int
    fewest: int
    most: int
    group: int
    factor: int


def by_pattern(number: float | int | Decimal, pattern: str) -> str:
    """ValueError where the pattern is none, or has an exponent."""
    form = _form(pattern or _USUAL)
    number = _times(number, form.factor)
    special = _special(number)
    if special == "NaN":
        return special
    negative = special.startswith("-") or Decimal(number).is_signed()
    prefix, suffix = form.negative if negative else (form.prefix, form.suffix)
    if special:
        return f"{prefix}∞{suffix}"
    rounded = abs(_rounded(number, form.most))
    whole, _, fraction = f"{rounded:f}".partition(".")
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0").ljust(form.fewest, "0")
    whole = whole.rjust(form.least, "0") or ("" if fraction else "0")
    return f"{prefix}{_grouped(whole, form.group)}{'.' if fraction else ''}{fraction}{suffix}"


def _times(number: float | int | Decimal, factor: int) -> float | int | Decimal:
    """Of a DOUBLE a DOUBLE, as in Java, of which the last digit may be another, or infinity."""
    if factor == 1:
        return number
    return number * factor if isinstance(number, float) else Decimal(number) * factor


def _grouped(digits: str, size: int) -> str:
    if size <= 0:
        return digits
    first = len(digits) % size
    groups = [digits[at : at + size] for at in range(first, len(digits), size)]
    return ",".join([digits[:first], *groups] if first else groups)


@lru_cache(maxsize=256)
def _form(pattern: str) -> _Form:
    positive, _, negative = pattern.partition(";")
    found = _FORM.match(positive)
    if found is None:
        raise ValueError(f"'{pattern[:100]}' is no pattern of a number, such as '#,##0.00'")
    whole, fraction = found["whole"], found["fraction"]
    group = len(whole) - whole.rfind(",") - 1 if "," in whole else 0
    digits, places = whole.replace(",", ""), fraction or ""
    if fraction is not None and "0" not in digits + places:
        if digits:
            digits = digits[:-1] + "0"
        else:
            places = "0" + places[1:]
    prefix, suffix = _plain(found["prefix"]), _plain(found["suffix"])
    other = _FORM.match(negative) if negative else None
    signed = ("-" + prefix, suffix)
    if other is not None:
        signed = (_plain(other["prefix"]), _plain(other["suffix"]))
    factor = 100 if "%" in prefix + suffix else 1000 if "‰" in prefix + suffix else 1
    least = digits.count("0")
    return _Form(prefix, suffix, signed, least, places.count("0"), len(places), group, factor)


def _plain(affix: str) -> str:
    return re.sub(r"'([^']*)'", lambda quoted: quoted[1] or "'", affix)
