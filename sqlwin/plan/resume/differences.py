"""The first difference of two plans, as a message: what a query was, and what it is.

Plans are compared from below, so that the cause of other differences is named first: an input's
declaration before the window over it, a window's size before the retention that goes by it.

>>> from sqlwin.windows.group import Hop
>>> difference(Hop(60_000_000, 60_000_000), Hop(120_000_000, 60_000_000), "the window")
'the size of the window was 1 minute, is 2 minutes'
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import chain
from typing import Any

import pyarrow as pa

from sqlwin.instants import format_duration
from sqlwin.plan.ir.nodes import Aggregate, Filter, Node, Project, Scalar, Scan, StaticScan, Stream
from sqlwin.schema import Column, Order, type_name
from sqlwin.windows import Unit

_DURATIONS = (
    *("retain", "retention", "hold", "late_period", "early_period", "timeout"),
    *("delay", "most", "length"),
)
_LENGTHS = (
    *("size", "advance", "offset", "step", "slide", "gap"),
    *("preceding", "following", "low", "high"),
)
"""Durations where a window is in RANGE."""
_CALLED = {
    "columns": "the columns",
    "computed": "the computed columns",
    "delay": "the delay of the watermark",
    "discards": "DISCARDING",
    "early": "EARLY",
    "early_period": "the period of EARLY",
    "early_rows": "the rows of EARLY",
    "early_once": "ONCE",
    "expired": "EXPIRED",
    "hold": "the grace of EMIT FINAL",
    "instants": "RSTREAM",
    "keys": "the keys",
    "kind": "the kind of the join",
    "late": "LATE",
    "late_period": "the period of LATE",
    "left_keys": "the keys of the left",
    "limit": "the number of first rows",
    "offset": "the offset",
    "options": "the options",
    "partition": "PARTITION BY",
    "residual": "the condition of the join",
    "retain": "RETAIN",
    "retain_rows": "RETAIN in rows",
    "retention": "RETENTION",
    "right_keys": "the keys of the right",
    "preceding": "the PRECEDING",
    "following": "the FOLLOWING",
    "sets": "the sets of GROUPING SETS",
    "timeout": "TIMEOUT",
    "ts": "the event time",
}
Words = str | None


def difference(was: Any, now: Any, of: str) -> Words:
    """None where they are equal. of: what they are."""
    if was == now:
        return None
    if isinstance(was, Filter | Project) or isinstance(now, Filter | Project):
        return _steps(was, now, of)
    if type(was) is not type(now):
        return _changed(of, was, now)
    if isinstance(was, Stream):
        return _stream(was, now)
    if isinstance(was, tuple) and all(map(is_dataclass, (*was, *now))) and len(was) == len(now):
        pairs = zip(was, now, strict=True)
        return next(found for a, b in pairs if (found := difference(a, b, of)) is not None)
    if not is_dataclass(was) or isinstance(was, Scalar | Aggregate | Column | Order):
        return _changed(of, was, now)
    return _fields(was, now, of)


def _fields(was: Any, now: Any, of: str) -> Words:
    """What lies below comes first, but for the columns read, which follow from the others."""
    inputs = [field.name for field in fields(was) if field.name in ("input", "left", "right")]
    pairs = [(getattr(was, name), getattr(now, name)) for name in inputs]
    below = (_steps(a, b, of, columns=False) for a, b in pairs if a != b)
    own = (
        _field(was, field.name, getattr(was, field.name), getattr(now, field.name), of)
        for field in fields(was)
        if field.compare and field.name not in inputs
    )
    read = (_steps(a, b, of) for a, b in pairs)
    return next((found for found in chain(below, own, read) if found is not None), None)


def _field(owner: Any, name: str, was: Any, now: Any, of: str) -> Words:
    if was == now:
        return None
    if name == "stream":
        return difference(was, now, of)
    if name in ("window", "match", "frame"):
        return difference(was, now, f"the {name}")
    if name in ("policy", "aggregate"):
        return difference(was, now, of)
    if name in ("aggregates", "calls"):
        one = "an aggregate" if len(was) == len(now) else "the aggregates"
        return difference(was, now, one)
    called = f"{_CALLED.get(name, f'the {name}')} of {of}".replace(" of the query", "")
    if name == "options":
        was, now = (tuple(f"{key} = {value!r}" for key, value in each) for each in (was, now))
    elif name in _DURATIONS or (name in _LENGTHS and not _counts(owner)):
        was, now = (format_duration(x) if isinstance(x, int) else x for x in (was, now))
    return _changed(called, was, now)


def _counts(window: Any) -> bool:
    """Whether it is in ROWS."""
    return getattr(window, "unit", None) is Unit.ROWS or getattr(window, "rows", None) is not None


def _stream(was: Stream, now: Stream) -> Words:
    if was.of and now.of:
        below = difference(was.of, now.of, "the query below")
        return below or _fields(was, now, f"the result {now.name}")
    return _fields(was, now, f"the stream {now.name}")


def _steps(was: Any, now: Any, of: str, columns: bool = True) -> Words:
    """Of filters and projections, what is below them, then the filter, then the columns."""
    (a, where, made), (b, now_where, now_made) = taken_apart(was), taken_apart(now)
    read = isinstance(b, Scan | StaticScan)
    found = difference(a, b, of) or _maybe(
        "WHERE" if read else f"the filter above the window of {of}", where, now_where
    )
    if found is not None or not columns:
        return found
    return _maybe("what is read" if read else "the select list", made, now_made)


def _maybe(of: str, was: Any, now: Any) -> Words:
    return None if was == now else _changed(of.replace(" of the query", ""), was, now)


def taken_apart(plan: Node) -> tuple[Node, Scalar | None, tuple[tuple[str, Scalar], ...] | None]:
    """What is below the uppermost projection and filter; the filter; the projection."""
    columns = predicate = None
    if isinstance(plan, Project):
        columns, plan = plan.columns, plan.input
    if isinstance(plan, Filter):
        predicate, plan = plan.predicate, plan.input
    return plan, predicate, columns


def _changed(of: str, was: Any, now: Any) -> str:
    many = of.startswith("the ") and of.split()[1].endswith("s")
    verbs = ("were", "are") if many else ("was", "is")
    return f"{of} {verbs[0]} {_word(was)}, {verbs[1]} {_word(now)}"


def _word(value: Any) -> str:
    if isinstance(value, Node):
        from sqlwin.plan.explain.lines import line

        return line(value)
    if isinstance(value, Scalar):
        return value.sql
    if isinstance(value, Aggregate):
        args = ", ".join(value.args) or "*"
        limit = f" limit {value.limit}" if value.limit is not None else ""
        return f"{value.function}({'distinct ' * value.distinct}{args}{limit}) AS {value.name}"
    if isinstance(value, Column):
        return f"{value.name} {type_name(value.type)}"
    if isinstance(value, pa.DataType):
        return type_name(value)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return _words(value)
    return "none" if value is None else str(value)


def _words(values: tuple[Any, ...]) -> str:
    if len(values) == 2 and isinstance(values[1], Scalar):
        return values[1].sql if values[1].sql == values[0] else f"{values[1].sql} AS {values[0]}"
    return ", ".join(map(_word, values)) or "none"
