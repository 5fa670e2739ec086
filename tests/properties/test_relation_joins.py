"""RSTREAM of joins whose rows come and go with others' is what DuckDB has at each instant.

Rows come in batches, out of order by no more than the watermark and RETAIN wait for them. So each
push emits, once, the relation over all rows that there will ever be, at each instant at which it
changes and that the watermark has passed by RETAIN.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from sqlwin.instants import SECOND
from tests.properties.duck import connection
from tests.properties.hosts import Host, answering_hosts
from tests.properties.relation_feeds import DELAY, Answers, Push, emitted, table
from tests.properties.relation_windows import (
    FOR_EVER,
    HALVES,
    KINDS,
    Window,
    changed,
    stays,
    windows,
    written,
)

ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3), st.integers(0, 25)),
    min_size=1,
    max_size=14,
)
NAMES = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3)), min_size=1, max_size=4
)
"""Rows of a static table."""


@st.composite
def feeds(draw: st.DrawFn) -> tuple[int, list[Push]]:
    """RETAIN in seconds, and pushes: of rows that come so much out of order at most."""
    retain = draw(st.sampled_from([0, 0, 4]))
    rows = sorted(draw(ROWS), key=lambda row: row[2] + draw(st.integers(0, DELAY + retain)))
    pushes: list[Push] = []
    while rows:
        size = draw(st.integers(1, 5))
        pushes, rows = [*pushes, rows[:size]], rows[size:]
    return retain, pushes


def sliced(rows: list[tuple[Any, ...]], pushes: list[Push], retain: int) -> list[Answers]:
    """Rows with their instants first, by the push at which the watermark passes them."""
    told, seen, out = 0, [], []
    for push in pushes:
        seen += [ts for _, _, ts in push]
        until = (max(seen) - DELAY - retain) * SECOND
        now = [row for row in rows if row[0] < until]
        out.append(Counter(row[1:] for row in now[told:]))
        told = max(told, len(now))
    return [*out, Counter(row[1:] for row in rows[told:])]


def query(kind: str, one: Window, other: str, on: str, retain: int) -> str:
    columns = "a.id AS x" if kind in HALVES else "a.id AS x, b.id AS y"
    return f"""RSTREAM(SELECT {columns} FROM s a {written(one)} {kind} JOIN {other} ON {on}
        RETAIN INTERVAL '{retain}' SECOND)"""


def relation(kind: str, one: str, other: str, on: str) -> str:
    """An instant, whether a row is there, and the row. one, other: rows, each with its stay."""
    both, rest = ("NULL", "NULL") if kind in HALVES else ("b.t", "b.id")
    return f"""
        WITH a AS {one}, b AS {other},
        t AS (SELECT lo AS t FROM a UNION SELECT hi FROM a UNION SELECT lo FROM b
            UNION SELECT hi FROM b),
        la AS (SELECT t, a.* FROM t JOIN a ON lo <= t AND t < hi),
        lb AS (SELECT t, b.* FROM t JOIN b ON lo <= t AND t < hi),
        j AS (SELECT COALESCE(a.t, {both}) AS t, a.id AS x, {rest} AS y
            FROM la a {kind} JOIN lb b ON a.t = b.t AND {on})
        SELECT t.t, j.t IS NOT NULL, x{", y" * (kind not in HALVES)} FROM t LEFT JOIN j ON t.t = j.t
        WHERE t.t < {FOR_EVER} ORDER BY t.t"""


def answered(text: str, pushes: list[Push]) -> list[tuple[Any, ...]]:
    con = connection()
    con.register("s", table([row for push in pushes for row in push]))
    try:
        return con.sql(text).fetchall()
    finally:
        con.unregister("s")  # others have a view of that name


@given(feeds(), answering_hosts(), st.sampled_from(KINDS), windows(), windows(), st.booleans())
def test_joins_at_each_change(
    fed: tuple[int, list[Push]], host: Host, kind: str, one: Window, other: Window, near: bool
) -> None:
    retain, pushes = fed
    on = "a.k = b.k" + " AND a.v >= b.v" * near
    assume(kind or {one[0], other[0]} != {"RANGE"})  # pairs alone are emitted without waiting
    text = query(kind, one, f"s b {written(other)}", on, retain)
    rows = changed(answered(relation(kind, stays(one), stays(other), on), pushes))
    assert emitted(text, pushes, host) == sliced(rows, pushes, retain)


@given(feeds(), answering_hosts(), st.sampled_from(("", "LEFT", "SEMI", "ANTI")), windows(), NAMES)
def test_static_tables_at_each_change(
    fed: tuple[int, list[Push]],
    host: Host,
    kind: str,
    one: Window,
    names: list[tuple[str | None, int]],
) -> None:
    retain, pushes = fed
    assume(one[0] != "RANGE")  # beside a table its rows are emitted without waiting
    on = "a.k = b.k AND a.v >= b.v"
    given_ = [{"id": at, "k": k, "v": v} for at, (k, v) in enumerate(names)]
    values = ", ".join(f"({at}, {text_of(k)}, {v})" for at, (k, v) in enumerate(names))
    always = f"""(SELECT *, -{FOR_EVER} AS lo, {FOR_EVER} AS hi
        FROM (VALUES {values}) AS names(id, k, v))"""
    text = query(kind, one, "names b", on, retain)
    rows = changed(answered(relation(kind, stays(one), always, on), pushes))
    assert emitted(text, pushes, host, given_) == sliced(rows, pushes, retain)


def text_of(key: str | None) -> str:
    return "NULL::VARCHAR" if key is None else f"'{key}'"
