"""A call over the rows around a row, and the first rows of a result.

>>> over("SUM(value)", partition_by="product", order_by="ts", rows=9)
'SUM(value) OVER (PARTITION BY `product` ORDER BY `ts` ROWS BETWEEN 9 PRECEDING AND CURRENT ROW)'
>>> over("LAG(value)", partition_by="product", order_by="ts")
'LAG(value) OVER (PARTITION BY `product` ORDER BY `ts`)'
>>> over("ROW_NUMBER()", order_by="-price")
'ROW_NUMBER() OVER (ORDER BY `price` DESC)'
>>> over("COUNT(*)", order_by="ts", session="5 minutes")
"COUNT(*) OVER (ORDER BY `ts` SESSION WITH GAP INTERVAL '5 minutes')"
>>> first_rows(3, "-total")
('ORDER BY `total` DESC', 'LIMIT 3')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlwin.builder.text import Columns, Duration, columns, count, duration, expression, listed
from sqlwin.errors import InputError

UNBOUNDED = "unbounded"


def over(
    call: str,
    *,
    partition_by: Columns = (),
    order_by: Columns = (),
    range: Duration | None = None,
    rows: int | str | None = None,
    following: Duration | int | None = None,
    session: Duration | None = None,
) -> str:
    """`call OVER (…)`, for `select`.

    order_by: columns; `-price` orders downwards. range, rows: how far the frame reaches before the
    row, in time or in rows, or "unbounded"; following: how far behind it. session: the gap of a
    session, which is the frame. None of them: SQL's default.
    """
    given = (range, rows, following)
    partition, order = columns(partition_by), tuple(map(_order, _each(order_by)))
    parts = [f"PARTITION BY {listed(partition)}"] if partition else []
    parts += [f"ORDER BY {listed(order)}"] if order else []
    parts += _frame(range, rows, following) if session is None else _session(session, *given)
    return f"{expression(call)} OVER ({' '.join(parts)})"


def first_rows(
    number: int, order_by: Columns, offset: int = 0, ties: bool = False
) -> tuple[str, str]:
    """ORDER BY with LIMIT, a line each. InputError where there is no order."""
    order = tuple(map(_order, _each(order_by)))
    if not order:
        raise InputError("the first rows are those of an order: order_by='-total'")
    bound = f"FETCH FIRST {count(number)} ROWS WITH TIES" if ties else f"LIMIT {count(number)}"
    behind = f"{bound} OFFSET {count(offset)}" if offset else bound
    return f"ORDER BY {listed(order)}", behind


def _frame(
    range: Duration | None, rows: int | str | None, following: Duration | int | None
) -> list[str]:
    before = rows if range is None else range
    if range is not None and rows is not None:
        raise InputError("a frame is in time, by range, or in rows")
    if before is None and following is None:
        return []
    if before is None:
        raise InputError("a frame says how far it reaches before the row: range=… or rows=…")
    unit, length = ("RANGE", duration) if range is not None else ("ROWS", count)
    after = "CURRENT ROW" if following is None else f"{_bound(following, length)} FOLLOWING"
    return [f"{unit} BETWEEN {_bound(before, length)} PRECEDING AND {after}"]


def _session(gap: Duration, *others: object) -> list[str]:
    if any(each is not None for each in others):
        raise InputError("a frame is a session, or has range, rows and following")
    return [f"SESSION WITH GAP {duration(gap)}"]


def _bound(amount: Duration | int, length: Callable[[Any], str]) -> str:
    return "UNBOUNDED" if amount == UNBOUNDED else length(amount)


def _order(key: str) -> str:
    (found,) = columns(key.removeprefix("-"))
    return f"{found} DESC" if key.startswith("-") else found


def _each(keys: Columns) -> tuple[str, ...]:
    return (keys,) if isinstance(keys, str) else tuple(keys)
