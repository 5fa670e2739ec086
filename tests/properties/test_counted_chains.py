"""Joins in ROWS of three and four streams: messages match iff each two of them do.

DuckDB compares the numbers of all pairs, where sqlwin hands spans of numbers from one join to
the next. A row that is absent lets the others be anywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.instants import END, SECOND, START, format_instant
from sqlwin.runtime.lowering.explained import explain
from sqlwin.sql import script
from sqlwin.testing.cells import Table, of_arrow
from sqlwin.testing.difference import difference
from tests.properties.deliveries import START as FROM
from tests.properties.duck import connection
from tests.properties.hosts import Host, answering_hosts, fast_hosts, reference
from tests.properties.promise import ran
from tests.properties.query_join_chains import HINTS
from tests.properties.query_joins import KINDS, OFTEN

SCHEMA = pa.schema([("id", pa.int64()), ("k", pa.string()), ("i", pa.int64()), ("pos", pa.int64())])
STREAMS = ("l", "r", "z")
SIDES = ("left", "right")
POLICIES = (*OFTEN, "EMIT EARLY ON UPDATE ")
WAITING = (*POLICIES, "EMIT ON CLOSE TIMEOUT INTERVAL '1' SECOND")
_ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "a", "b", None]), st.integers(0, 3), st.sampled_from([1, 1, 2])
    ),
    max_size=4,
)
PUSHES = st.lists(st.tuples(st.integers(0, 5), _ROWS), min_size=1, max_size=9)
Pushes = list[tuple[int, list[tuple[str | None, int, int]]]]


@dataclass(frozen=True)
class Question:
    """ours: to sqlwin; theirs: to DuckDB. offset: whether numbers are offsets, less the first.
    streams: those that it reads; timed: whether they have an event time, in no order."""

    ours: str
    theirs: str
    offset: bool
    streams: tuple[str, ...]
    timed: bool


@st.composite
def questions(draw: st.DrawFn) -> Question:
    count, offset = draw(st.sampled_from([3, 3, 4])), draw(st.booleans())
    names = "abcd"[:count]
    of = {name: draw(st.sampled_from(STREAMS)) for name in names}
    sizes = {name: draw(st.sampled_from([None, 1, 2, 3, 4])) for name in names}
    sizes[draw(st.sampled_from(names))] = draw(st.integers(1, 4))
    shown, ours, theirs = ["a"], _source(of, sizes, "a"), f"{of['a']} a"
    for name in names[1:]:
        kind = draw(st.sampled_from(("INNER", *KINDS)))
        with_ = draw(st.sampled_from(shown))
        more = draw(st.sampled_from(["", "", f" AND {with_}.i <= {name}.i", f" AND {name}.i > 0"]))
        on = (
            draw(st.sampled_from([f"{with_}.k = {name}.k", f"{with_}.k = {name}.k", "TRUE"])) + more
        )
        near = [_near(other, sizes[other], name, sizes[name]) for other in shown]
        ours += f" {kind} JOIN {_source(of, sizes, name)} ON {on}"
        theirs += f" {kind} JOIN {of[name]} {name} ON {on} AND {' AND '.join(near)}"
        if kind not in ("SEMI", "ANTI"):
            shown.append(name)
    where = draw(st.sampled_from(["", "", f" WHERE {shown[-1]}.i > 0", " WHERE a.i IS NOT NULL"]))
    columns = ", ".join(f"{name}.id AS {name}id" for name in shown)
    policy = draw(st.sampled_from(POLICIES if kind in ("INNER", "SEMI") else WAITING))
    timed = draw(st.sampled_from(["", ", ts TIMESTAMP, WATERMARK FOR ts AS ts"]))
    declared = "".join(
        f"CREATE STREAM {name} (id BIGINT, k STRING, i BIGINT{timed}{', OFFSET id' * offset});\n"
        for name in STREAMS
    )
    text = f"{declared}SELECT {draw(st.sampled_from(HINTS))}{columns} FROM {ours}{where} {policy}"
    streams = tuple(dict.fromkeys(of.values()))
    return Question(text, f"SELECT {columns} FROM {theirs}{where}", offset, streams, bool(timed))


def _source(of: dict[str, str], sizes: dict[str, int | None], name: str) -> str:
    size = sizes[name]
    return f"{of[name]}{'' if size is None else f' OVER (ROWS {size} PRECEDING)'} {name}"


def _near(one: str, size: int | None, other: str, other_size: int | None) -> str:
    ahead = "TRUE" if size is None else f"{other}.pos - {one}.pos < {size}"
    behind = "TRUE" if other_size is None else f"{one}.pos - {other}.pos < {other_size}"
    return f"({one}.pos IS NULL OR ({ahead} AND {behind}))"


Rows = list[dict[str, Any]]


def answered(question: Question, pushes: Pushes, host: Host) -> None:
    rows, fed = delivered(question, pushes)
    con = connection("counted")
    for name, each in rows.items():
        con.register(name, pa.Table.from_pylist(each, SCHEMA))
    expected = con.sql(question.theirs).fetchall()
    for name in rows:
        con.unregister(name)
    assert Counter(ran(question.ours, fed, host)) == Counter(expected)


def delivered(question: Question, pushes: Pushes) -> tuple[dict[str, Rows], list[tuple[str, Rows]]]:
    """All rows of each stream with their numbers, and the batches."""
    rows: dict[str, Rows] = {name: [] for name in STREAMS}
    fed = []
    for at, batch in pushes:
        name, made = question.streams[at % len(question.streams)], []
        for k, i, step in batch:
            last = rows[name][-1]["id"] if rows[name] else 6
            new = last + (step if question.offset else 1)
            first = rows[name][0]["id"] if rows[name] else new
            rows[name].append({"id": new, "k": k, "i": i, "pos": new - first + 1})
            ts = {"ts": format_instant(FROM + i * SECOND)} if question.timed else {}
            made.append({"id": new, "k": k, "i": i, **ts})
        fed.append((name, made))
    return rows, fed


@given(questions(), PUSHES, answering_hosts())
def test_messages_match_iff_each_two_do(question: Question, pushes: Pushes, host: Host) -> None:
    answered(question, pushes, host)


@given(questions(), PUSHES)
def test_and_so_they_do_by_definition(question: Question, pushes: Pushes) -> None:
    answered(question, pushes, reference)


@given(questions(), PUSHES, fast_hosts())
def test_they_are_emitted_when_they_are_to_be(
    question: Question, pushes: Pushes, host: Host
) -> None:
    _, fed = delivered(question, pushes)
    expected, found = (list(_steps(question, fed, each)) for each in (reference, host))
    for one, other in zip(expected, found, strict=True):
        assert not difference(one, other)


def _steps(question: Question, fed: list[tuple[str, Rows]], host: Host) -> Iterator[Table]:
    runs = host(script(question.ours))
    query = next(runs)
    for number, (name, batch) in enumerate(fed):
        query.push(name, batch)
        query.advance(now=number * 700_000)
        yield of_arrow(query.results())
        if len(batch) % 3 == 2:
            query = next(runs)
    query.drain()
    yield of_arrow(query.results())


def test_messages_go_once_no_other_may_meet_them() -> None:
    """In each join, by the counts of the streams of those below it."""
    declared = "".join(f"CREATE STREAM {name} (id BIGINT);\n" for name in "abcd")
    query = EmbeddedQuery(
        script(
            f"{declared}SELECT a.id FROM a [ROWS 3] LEFT JOIN b [ROWS 2] ON a.id = b.id "
            "FULL JOIN c [ROWS 4] ON a.id = c.id JOIN d [ROWS 2] ON a.id = d.id"
        ),
        explain,
    )
    kept = []
    for at in range(30):
        for name in "abcd":
            query.push(name, [{"id": at}])
        stores = [task.stores.named for task in query._task.tasks]
        kept.append([len(each[side].scan(START, END)) for each in stores for side in SIDES])
    assert max(map(max, kept)) <= 8
    assert kept[20:] == kept[10:20]
    assert query.results().num_rows == 30
