"""What every definition needs: an aggregate call, message numbers, keys and row_keys as text.

>>> json_array(["tea", None, -0.0, instant(0)])
'["tea",null,0.0,"1970-01-01T00:00:00Z"]'
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

import pyarrow as pa

from sqlwin.errors import OverflowInAggregate
from sqlwin.instants import EPOCH, format_instant, from_datetime
from sqlwin.schema import Order
from tests.reference.definitions.window import key_text
from tests.reference.kernels.aggregates import Folding, aggregate, fold
from tests.reference.kernels.exact import OutOfRange
from tests.reference.kernels.rows import Row

NUMBER = "__number"


@dataclass(frozen=True)
class Value:
    """An aggregate call, as in the plan; python: the function where it is one from Python."""

    name: str
    function: str
    args: tuple[str, ...]
    type: pa.DataType
    where: str | None = None
    params: tuple[Any, ...] = ()
    distinct: bool = False
    order: tuple[Order, ...] = ()
    limit: int | None = None
    python: Folding | None = None

    def of(self, rows: list[Row], place: str) -> Any:
        """Over rows by position. place: of the window, for the message of an overflow."""
        if self.python is not None:
            return fold(self.python, self.args, rows, self.where)
        how = (self.where, self.params, self.distinct, self.order, self.limit)
        try:
            return aggregate(self.function, self.args, self.type, rows, *how)
        except OutOfRange:
            raise OverflowInAggregate(self.name, place) from None


def numbered(taken: Iterable[Row], partition: tuple[str, ...]) -> list[Row]:
    """Rows with `__number`: the how-many-th of its partition each is, in the order taken."""
    counts: dict[str, int] = defaultdict(int)
    rows: list[Row] = []
    for row in taken:
        key = key_text(row, partition)
        counts[key] += 1
        rows.append({**row, NUMBER: counts[key]})
    return rows


def last_numbers(rows: list[Row], partition: tuple[str, ...]) -> dict[str, int]:
    return {key_text(row, partition): row[NUMBER] for row in rows}


def of_partition(rows: list[Row], row: Row, partition: tuple[str, ...]) -> list[Row]:
    key = key_text(row, partition)
    return [other for other in rows if key_text(other, partition) == key]


def instant(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def json_array(values: list[Any]) -> str:
    return json.dumps(
        [_plain(value) for value in values], ensure_ascii=False, separators=(",", ":")
    )


_WORDS = {"nan": "NaN", "inf": "inf", "-inf": "-inf"}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return format_instant(from_datetime(value))
    if isinstance(value, date | Decimal):
        return str(value)
    if isinstance(value, float):  # -0.0 is 0.0; NaN and infinities are no JSON numbers
        return value + 0.0 if isfinite(value) else _WORDS[str(value)]
    return value.hex() if isinstance(value, bytes) else value
