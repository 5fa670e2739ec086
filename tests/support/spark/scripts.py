"""Plans for the tests of the Spark host, built without the SQL front end."""

from __future__ import annotations

import pyarrow as pa

from sqlwin.instants import MINUTE
from sqlwin.plan.ir.nodes import (
    Aggregate,
    OverAggregate,
    OverCall,
    Project,
    Scan,
    Stream,
    WindowAggregate,
    column_of,
)
from sqlwin.plan.ir.statements import Query, Script, Sink
from sqlwin.policies import Policy
from sqlwin.schema import TIMESTAMP, Column
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.group import Hop

COLUMNS = (
    Column("product", pa.string()),
    Column("value", pa.int64()),
    Column("ts", TIMESTAMP),
)


def orders(
    path: str = "orders", format_: str = "csv", delay: int = 0, offset: str | None = None
) -> Stream:
    return Stream(
        "orders",
        COLUMNS,
        "ts",
        delay,
        offset=offset,
        options=(("connector", "files"), ("format", format_), ("path", path)),
    )


def tumble(
    stream: Stream, size: int = MINUTE, sink: Sink | None = None, late: Policy | None = None
) -> Query:
    below = Project(Scan(stream), tuple((c.name, column_of(c)) for c in stream.schema))
    window = WindowAggregate(
        below,
        Hop(size, size),
        ("product",),
        (
            Aggregate("n", "count", (), pa.int64()),
            Aggregate("total", "sum", ("value",), pa.int64()),
        ),
        late or Policy(retain=size),
    )
    return Query(Project(window, tuple((c.name, column_of(c)) for c in window.schema)), sink)


def sliding(stream: Stream, size: int = 2 * MINUTE, sink: Sink | None = None) -> Query:
    below = Project(Scan(stream), tuple((c.name, column_of(c)) for c in stream.schema))
    call = OverCall(
        Aggregate("total", "sum", ("value",), pa.int64()), ("product",), Frame(Unit.RANGE, size)
    )
    window = OverAggregate(below, (call,), Policy(retain=size))
    return Query(Project(window, tuple((c.name, column_of(c)) for c in window.schema)), sink)


def script(*queries: Query) -> Script:
    return Script((), tuple(queries))


NOWHERE = Sink("none", None, (("connector", "none"),))
