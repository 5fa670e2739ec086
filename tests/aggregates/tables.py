"""Tables of groups on which aggregates go wrong, one for each type of the argument.

| column | |
|---|---|
| `g`  | the group |
| `x`  | the argument, of the type that the table is named by |
| `y`  | a DOUBLE for functions of two numbers |
| `k`  | an INT, another one for each row of a group |
| `w`  | for FILTER; true in no row of the group `filtered` |
| `ts` | event time, ascending: rows are read in this order |

The first groups are made by hand, the same for all types but for what a type has (`GROUPS`); the
last are drawn.

>>> table = tables()["double"]
>>> table.column_names, table.filter(pc.field("g") == GROUPS.index("zeros"))["x"].to_pylist()
(['g', 'x', 'y', 'k', 'w', 'ts'], [0.0, -0.0, None, -0.0])
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Context, Decimal
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc  # noqa: F401  of the example

from sqlwin.schema import TIMESTAMP

GROUPS = (
    *("nulls", "null and one", "one", "plain", "zeros", "not finite", "nan", "infinities"),
    *("beyond the top", "beyond the bottom", "there and back", "extremes", "filtered"),
)
DRAWN = 4
"""Groups that are drawn."""
NAN, INF = float("nan"), float("inf")
MINUTE = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Kind:
    """A type of arguments. draw: a value of it; plain: some of its values; zeros: equal ones."""

    type: pa.DataType
    plain: Sequence[Any]
    least: Any
    greatest: Any
    draw: Callable[[random.Random], Any]
    zeros: Sequence[Any] = ()
    endless: bool = False


def _integers(bits: int) -> Kind:
    top = 2 ** (bits - 1)
    types = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}

    def draw(chance: random.Random) -> int:
        return chance.choice((chance.randint(-3, 3), chance.randint(-99, 99)))

    return Kind(types[bits], (3, 1, 3, 2, 10), -top, top - 1, draw)


def _decimals(digits: int, scale: int) -> Kind:
    def of(units: int) -> Decimal:
        return Decimal(units).scaleb(-scale, Context(prec=60))

    top = 10**digits - 1
    plain = [of(units) for units in (150, -25, 150, 1, 700)]

    def draw(chance: random.Random) -> Decimal:
        return of(chance.choice((chance.randint(-3, 3), chance.randint(-(top // 99), top // 99))))

    return Kind(pa.decimal128(digits, scale), plain, of(-top), of(top), draw)


def _chosen(type_: pa.DataType, *values: Any) -> Kind:
    """Of few values, the first the least, the last the greatest."""
    return Kind(type_, (*values[:3], values[1]), values[0], values[-1], lambda c: c.choice(values))


def _day(year: int, month: int = 1, day: int = 1) -> Any:
    return datetime(year, month, day, tzinfo=timezone.utc)


KINDS: dict[str, Kind] = {
    "boolean": _chosen(pa.bool_(), False, True),
    "tinyint": _integers(8),
    "smallint": _integers(16),
    "int": _integers(32),
    "bigint": _integers(64),
    "float": Kind(
        pa.float32(), (1.5, -0.25, 1.5, 7.0), -3.4028234663852886e38, 3.4028234663852886e38,
        lambda c: c.choice((c.randint(-3, 3) / 4, c.randint(-99, 99) * 1.0)), (0.0, -0.0), True,
    ),
    "double": Kind(
        pa.float64(), (1.5, -0.1, 1.5, 7.3), -1.7976931348623157e308, 1.7976931348623157e308,
        lambda c: c.choice((c.randint(-3, 3) / 10, c.uniform(-99, 99))), (0.0, -0.0), True,
    ),
    "decimal(5,2)": _decimals(5, 2),
    "decimal(10,0)": _decimals(10, 0),
    "decimal(28,10)": _decimals(28, 10),
    "decimal(38,0)": _decimals(38, 0),
    "decimal(38,18)": _decimals(38, 18),
    "decimal(38,37)": _decimals(38, 37),
    "string": _chosen(pa.string(), "", "b", "a", "1", "é", "日本", "a\U0001f600", "z\U0001f600"),
    "binary": _chosen(pa.binary(), b"", b"b", b"a", b"\x00", b"\x7f", b"\xff"),
    "date": _chosen(
        pa.date32(), *(_day(*d).date() for d in ((1, 1, 1), (1970, 1, 2), (1969, 12, 31), (2024,)))
    ),
    "timestamp": _chosen(
        TIMESTAMP, _day(1, 1, 2), _day(2024, 2, 29), _day(1969, 12, 31), MINUTE, _day(9999)
    ),
    "array<int>": _chosen(pa.list_(pa.int32()), [], [2], [1, None], [1], None, [3]),
    "array<double>": _chosen(
        pa.list_(pa.float64()), [], [0.0], [NAN, 1.0], [-0.0], [None, 2.0], [NAN], None, [INF]
    ),
    "struct<a:int,b:string>": _chosen(
        pa.struct([("a", pa.int32()), ("b", pa.string())]),
        *({"a": a, "b": b} for a, b in ((1, "x"), (1, None), (None, "y"), (2, ""))),
    ),
}  # fmt: skip


def _groups(kind: Kind) -> dict[str, list[Any]]:
    plain, (low, high) = list(kind.plain), (kind.least, kind.greatest)
    a, b = plain[0], plain[1]
    zero_a, zero_b = kind.zeros or (a, a)
    endless = (NAN, INF, -INF) if kind.endless else (a, b, a)
    nan, inf, under = endless
    return {
        "nulls": [None, None],
        "null and one": [None, b],
        "one": [a],
        "plain": [*plain, None, *plain[:3]],
        "zeros": [zero_a, zero_b, None, zero_b],
        "not finite": [a, inf, b, None],
        "nan": [nan, a, None, nan, b],
        "infinities": [inf, under, a, nan],
        "beyond the top": [high, high, None],
        "beyond the bottom": [low, low, a],
        "there and back": [high, b, high, low, low],
        "extremes": [low, high],
        "filtered": [a, b, None],
    }


def table(kind: Kind, chance: random.Random, drawn: int = DRAWN, most: int = 30) -> pa.Table:
    """The groups by hand and `drawn` others, of up to `most` rows."""
    groups = [_groups(kind)[name] for name in GROUPS]
    for _ in range(drawn):
        pool = [kind.draw(chance) for _ in range(chance.randint(1, most))]
        groups.append([chance.choice((*pool, None)) for _ in range(chance.randint(1, most))])
    rows = [row for g, values in enumerate(groups) for row in _rows(g, values, chance)]
    step = 40_000_000 // max(1, len(rows))
    start = int(MINUTE.timestamp()) * 1_000_000
    types = (pa.int32(), kind.type, pa.float64(), pa.int32(), pa.bool_())
    columns = [
        pa.array(column, t) for column, t in zip(zip(*rows, strict=True), types, strict=True)
    ]
    ts = pa.array([start + at * step for at in range(len(rows))], pa.int64()).cast(TIMESTAMP)
    return pa.table([*columns, ts], names=["g", "x", "y", "k", "w", "ts"])


def _rows(g: int, values: list[Any], chance: random.Random) -> list[tuple[Any, ...]]:
    keys = chance.sample(range(-len(values), 2 * len(values)), len(values))
    off = g < len(GROUPS) and GROUPS[g] == "filtered"
    return [
        (
            g,
            value,
            chance.choice((None, 1.5, -2.0, 0.25, 10.0)),
            key,
            False if off else chance.choice((True, True, False, None)),
        )
        for value, key in zip(values, keys, strict=True)
    ]


@cache
def tables(seed: int = 1, drawn: int = DRAWN, most: int = 30) -> dict[str, pa.Table]:
    """By the type of the argument; the same for the same seed."""
    return {
        name: table(kind, random.Random(f"{seed} {name}"), drawn, most)
        for name, kind in KINDS.items()
    }


def digest() -> str:
    """Of the tables that answers are recorded over."""
    text = "".join(f"{name} {made.to_pylist()}" for name, made in tables().items())
    return hashlib.sha256(text.encode()).hexdigest()[:16]
