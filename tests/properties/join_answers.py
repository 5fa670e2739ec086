"""The main promise of joins: last revisions are DuckDB's answer over all rows of all streams.

Whatever the order of arrival, the cut into batches and which stream each is of, messages
that come twice, restarts and policies.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from sqlwin.instants import SECOND, format_instant, parse_instant
from tests.properties.deliveries import START
from tests.properties.duck import connection
from tests.properties.features import has
from tests.properties.hosts import Host, answering_hosts, reference
from tests.properties.promise import ran
from tests.properties.query_join_chains import chained
from tests.properties.query_joins import JoinQuestion, questions

Row = dict[str, Any]
Pushes = list[tuple[str, list[Row]]]
SCHEMA = pa.schema(
    [("id", pa.int64()), ("k", pa.string()), ("i", pa.int64()), ("b", pa.bool_()),
     ("ts", pa.string())]
)  # fmt: skip
_ROW = st.fixed_dictionaries(
    {
        "k": st.sampled_from(["a", "a", "b", None]),
        "i": st.none() | st.integers(-2, 4),
        "b": st.sampled_from([True, True, False, None]),
        "ts": st.integers(0, 40).map(lambda n: format_instant(START + n * SECOND)),
    }
)


@st.composite
def pushes(draw: DrawFn, question: JoinQuestion, least: int = 1) -> tuple[JoinQuestion, Pushes]:
    """Of a table all rows first. least: so many batches, and rows in each."""
    some = st.lists(_ROW, min_size=least, max_size=6)
    names = ["s"] if question.itself else ["l"] if question.table else list(question.streams)
    # of three streams chance alone seldom gives rows to each
    each = draw(st.permutations(names)) if len(names) > 2 else []
    drawn = draw(st.lists(st.tuples(st.sampled_from(names), some), min_size=least, max_size=7))
    tables = [("r", draw(some))] if question.table else []
    out: Pushes = []
    for name, rows in [*tables, *((name, draw(some)) for name in each), *drawn]:
        known = [row for stream, batch in out for row in batch if stream == name]
        first, oldest = len({row["id"] for row in known}), _oldest(question, out)
        batch = [{"id": first + at, **_aged(row, oldest)} for at, row in enumerate(rows)]
        if question.replays and name != "r" * question.table:
            taken = [row for row in known if oldest is None or _instant(row) >= oldest]
            again = st.lists(st.sampled_from([*taken, *batch]), max_size=2)
            batch = draw(st.permutations([*batch, *draw(again)]))
        out.append((name, batch))
    return question, _shuffled(draw, question, out)


def _oldest(question: JoinQuestion, out: Pushes) -> int | None:
    """An instant that is not late beyond what the question allows, or None for any."""
    if question.late is None:
        return None
    return max((_instant(row) for _, batch in out for row in batch), default=START) - (
        question.late * SECOND
    )


def _aged(row: Row, oldest: int | None) -> Row:
    """Where lateness is bounded, time passes from batch to batch."""
    if oldest is None:
        return row
    return {**row, "ts": format_instant(oldest + (_instant(row) - START) // 2)}


def _instant(row: Row) -> int:
    return parse_instant(str(row["ts"]))


def _shuffled(draw: DrawFn, question: JoinQuestion, out: Pushes) -> Pushes:
    """Declared positions in any order, but where messages are numbered."""
    if not question.replays or question.rising:
        return out
    ids = draw(st.permutations(range(max(row["id"] for _, batch in out for row in batch) + 1)))
    return [(name, [{**row, "id": ids[row["id"]]} for row in batch]) for name, batch in out]


_CASES = st.one_of(questions(), *([chained()] if has("chains") else [])).flatmap(pushes)
ANSWERS = (_CASES, answering_hosts())
OF_REFERENCE = (_CASES, st.just(reference))


def joined(case: tuple[JoinQuestion, Pushes], host: Host) -> None:
    question, pushed = case
    found = ran(question.text, pushed, host)
    assert Counter(found) == Counter(_batch_answer(question, pushed))


def _batch_answer(question: JoinQuestion, pushed: Pushes) -> list[tuple[Any, ...]]:
    for name in question.streams:
        stream = "s" if question.itself else name
        rows = {row["id"]: row for of, batch in pushed for row in batch if of == stream}
        fed = pa.Table.from_pylist(list(rows.values()), SCHEMA)
        _viewed(name).register(f"fed_{name}", fed)
    return list(connection("joins").sql(question.batch).fetchall())


@cache
def _viewed(name: str) -> duckdb.DuckDBPyConnection:
    """With the view of a stream, over what is registered as `fed_…` at the time."""
    con: duckdb.DuckDBPyConnection = connection("joins")
    con.register(f"fed_{name}", SCHEMA.empty_table())
    con.execute(
        f"CREATE VIEW {name} AS SELECT * REPLACE (ts::TIMESTAMPTZ AS ts), "
        f"id AS seq, id + 1 AS pos, epoch_us(ts::TIMESTAMPTZ) AS us FROM fed_{name}"
    )
    return con
