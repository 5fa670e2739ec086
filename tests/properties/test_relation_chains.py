"""RSTREAM of two joins of two streams, over runs, is what DuckDB has at each instant in the end.

Each run is a checkpoint's next one: its input ends, and its rows are a relation of their own. Rows
of each stream come in batches, out of order by no more than is waited for, some of them twice.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

from sqlwin.instants import SECOND, format_instant
from sqlwin.sql import script
from tests.properties.deliveries import START
from tests.properties.duck import connection
from tests.properties.hosts import Host, answering_hosts
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

RETAIN, DELAY, LATER = 4, 3, 60
STREAMS = "".join(
    f"CREATE STREAM {name} (id BIGINT, k STRING, v BIGINT, ts TIMESTAMP, "
    f"WATERMARK FOR ts AS ts - INTERVAL '{DELAY}' SECOND, OFFSET id);\n"
    for name in ("s", "r")
)
SCHEMA = pa.schema([("id", pa.int64()), ("k", pa.string()), ("v", pa.int64()), ("ts", pa.int64())])
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["s", "r"]),
        st.sampled_from(["a", "b", None]),
        st.integers(0, 3),
        st.integers(0, 25),
    ),
    min_size=1,
    max_size=10,
)
Row = dict[str, Any]
Push = tuple[str, list[Row]]
Run = list[Push]


@st.composite
def runs(draw: st.DrawFn) -> list[Run]:
    made: list[Run] = []
    count = 0
    for number in range(draw(st.integers(1, 2))):
        rows = [
            (stream, {"id": count + at, "k": k, "v": v, "ts": ts + number * LATER})
            for at, (stream, k, v, ts) in enumerate(draw(ROWS))
        ]
        count += len(rows)
        rows.sort(key=lambda each: each[1]["ts"] + draw(st.integers(0, DELAY + RETAIN)))
        pushes: Run = []
        while rows:
            size, stream = draw(st.integers(1, 5)), rows[0][0]
            batch = [row for of, row in rows[:size] if of == stream]
            again = draw(st.lists(st.sampled_from(batch), max_size=1))
            pushes.append((stream, batch + again))
            rows = [each for each in rows[:size] if each[0] != stream] + rows[size:]
        made.append(pushes)
    return made


def emitted(text: str, fed: list[Run], host: Host) -> Counter[tuple[Any, ...]]:
    lives, out = host(script(text)), []
    for run in fed:
        for stream, batch in run:
            query = next(lives)
            if stream not in query.streams:
                continue
            query.push(stream, [{**row, "ts": _instant(row["ts"])} for row in batch])
            out += query.results().to_pylist()
        query = next(lives)
        query.drain()
        out += query.results().to_pylist()
        assert query.expired().num_rows == 0
    assert len({row["row_key"] for row in out}) == len(out)
    names = [name for name in "xyz" if out and name in out[0]]
    return Counter(tuple(row[name] for name in names) for row in out)


def _instant(seconds: int) -> str:
    return format_instant(START + seconds * SECOND)


def answered(text: str, run: Run) -> list[tuple[Any, ...]]:
    con = connection()
    for name in ("s", "r"):
        rows = {row["id"]: row for of, batch in run for row in batch if of == name}
        con.register(name, pa.Table.from_pylist(list(rows.values()), SCHEMA))
    try:
        return changed(con.sql(text).fetchall())
    finally:
        for name in ("s", "r"):
            con.unregister(name)


def relation(kinds: tuple[str, str], inputs: list[str]) -> str:
    """An instant, whether a row is there, and the row. inputs: rows, each with its stay."""
    first, second = kinds
    one, two, y, z = (
        "NULL" if kind in HALVES else f"{name}.{column}"
        for column in ("t", "id")
        for name, kind in (("b", first), ("c", second))
    )
    edges = " UNION ".join(f"SELECT {at} AS t FROM {name}" for name in "abc" for at in ("lo", "hi"))
    there = ", ".join(
        f"l{name} AS (SELECT t, {name}.* FROM t JOIN {name} ON lo <= t AND t < hi)"
        for name in "abc"
    )
    return f"""
        WITH {", ".join(f"{name} AS {rows}" for name, rows in zip("abc", inputs, strict=True))},
        t AS ({edges}), {there},
        ab AS (SELECT COALESCE(a.t, {one}) AS t, a.id AS x, a.k AS k, a.v AS v, {y} AS y
            FROM la a {first} JOIN lb b ON a.t = b.t AND a.k = b.k),
        j AS (SELECT COALESCE(ab.t, {two}) AS t, x, y, {z} AS z
            FROM ab {second} JOIN lc c ON ab.t = c.t AND ab.k = c.k AND ab.v >= c.v)
        SELECT t.t, j.t IS NOT NULL, x, y, z FROM t LEFT JOIN j ON t.t = j.t
        WHERE t.t < {FOR_EVER} ORDER BY t.t"""


@given(
    runs(),
    answering_hosts(),
    st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)),
    st.lists(st.tuples(st.sampled_from(["s", "r"]), windows()), min_size=3, max_size=3),
)
def test_two_joins_at_each_change(
    fed: list[Run], host: Host, kinds: tuple[str, str], inputs: list[tuple[str, Window]]
) -> None:
    assume(any(kinds) or {window[0] for _, window in inputs} != {"RANGE"})  # pairs alone
    kept = [at for at, kind in enumerate(("", *kinds)) if kind not in HALVES]
    columns = ", ".join(f"{'abc'[at]}.id AS {'xyz'[at]}" for at in kept)
    a, b, c = (
        f"{stream} {name} {written(window)}"
        for name, (stream, window) in zip("abc", inputs, strict=True)
    )
    text = f"""{STREAMS}RSTREAM(SELECT {columns} FROM {a}
        {kinds[0]} JOIN {b} ON a.k = b.k {kinds[1]} JOIN {c} ON a.k = c.k AND a.v >= c.v
        RETAIN INTERVAL '{RETAIN}' SECOND)"""
    wanted = relation(kinds, [stays(window, stream) for stream, window in inputs])
    expected: Counter[tuple[Any, ...]] = Counter()
    for run in fed:
        expected.update(tuple(row[1 + at] for at in kept) for row in answered(wanted, run))
    assert emitted(text, fed, host) == expected
