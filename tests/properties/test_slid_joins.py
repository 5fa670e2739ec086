"""Pairs of a join whose windows advance by steps are those that are in both at some instant.

DuckDB goes through the instants: at each, rows of `[RANGE r SLIDE s]` are those of `[m - r, m)`,
m being the last multiple of s, those of `[RANGE r]` lie in `[t - r, t]`, and all before it are
there without a window. Rows, slides and lengths are in whole seconds, and so are the instants.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import SECOND, format_instant
from tests.properties.deliveries import START
from tests.properties.duck import connection
from tests.properties.hosts import Host, answering_hosts
from tests.properties.promise import ran

STREAMS = "".join(
    f"CREATE STREAM {name} (id BIGINT, k STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts);\n"
    for name in ("l", "r")
)
ROWS = st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 20)), max_size=4)
PUSHES = st.lists(st.tuples(st.sampled_from(["l", "r"]), ROWS), min_size=1, max_size=7)
SCHEMA = pa.schema([("id", pa.int64()), ("k", pa.string()), ("ts", pa.int64())])
Window = tuple[str, str]
"""Its text, and when it holds a row at an instant t, both over `ts` in seconds."""


@st.composite
def windows(draw: st.DrawFn) -> Window:
    length, slide = draw(st.integers(1, 9)), draw(st.integers(1, 6))
    slid = (
        f"[RANGE {max(length, slide)} SECONDS SLIDE {slide} SECONDS]",
        f"ts >= t - t % {slide} - {max(length, slide)} AND ts < t - t % {slide}",
    )
    plain = f"[RANGE {length} SECONDS]", f"ts BETWEEN t - {length} AND t"
    return draw(st.sampled_from([slid, slid, plain, ("[NOW]", "ts = t"), ("", "ts <= t")]))


@given(PUSHES, windows(), windows(), st.sampled_from(["", "LEFT", "FULL"]), answering_hosts())
def test_rows_match_that_are_in_both_windows_at_one_instant(
    pushes: list[tuple[str, list[tuple[str | None, int]]]],
    left: Window,
    right: Window,
    kind: str,
    host: Host,
) -> None:
    rows: dict[str, list[dict[str, Any]]] = {"l": [], "r": []}
    fed = []
    for name, batch in pushes:
        first = len(rows[name])
        made = [{"id": first + at, "k": k, "ts": ts} for at, (k, ts) in enumerate(batch)]
        rows[name] += made
        instants = [format_instant(START + row["ts"] * SECOND) for row in made]
        fed.append((name, [{**row, "ts": at} for row, at in zip(made, instants, strict=True)]))
    con = connection()
    for name, each in rows.items():
        con.register(name, pa.Table.from_pylist(each, SCHEMA))
    pairs = f"""
        WITH instants AS (SELECT * FROM range(0, 100) i(t)),
        a AS (SELECT * FROM l JOIN instants ON {left[1]}),
        b AS (SELECT * FROM r JOIN instants ON {right[1]}),
        pairs AS (SELECT DISTINCT a.id AS x, b.id AS y FROM a JOIN b USING (t, k))
        SELECT l.id, r.id FROM l {kind} JOIN pairs ON l.id = x {kind} JOIN r ON r.id = y"""
    text = (
        f"{STREAMS}SELECT a.id, b.id AS other FROM l a {left[0]} {kind} JOIN r b {right[0]} "
        "ON a.k = b.k EMIT LATE ON UPDATE RETAIN 1 HOUR"
    )
    expected = con.sql(pairs).fetchall()
    for name in rows:
        con.unregister(name)
    assert sorted(ran(text, fed, host), key=repr) == sorted(expected, key=repr)
