"""A changed query on a checkpoint: each line of the table in docs/checkpoints.md."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sqlwin
from sqlwin.embedded.checkpoint.reader import state
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.embedded.run import run
from sqlwin.errors import InputError, RunError
from sqlwin.plan.resume.compatibility import why_not
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import DictBlobs

STREAM = """CREATE STREAM orders (
  product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (path = 'orders/*.jsonl');
CREATE STREAM other (product STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (path = 'orders/*.jsonl');
CREATE SINK one WITH (connector = 'files', path = 'one');
CREATE SINK two WITH (connector = 'files', path = 'two');
CREATE SINK both WITH (connector = 'files', path = 'both', changelog = 'retract');
"""
TOTALS = """INSERT INTO one
SELECT product, window_start, SUM(value) AS total, COUNT(*) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
WHERE value < 100
GROUP BY product, window_start, window_end
{having}{emit}{retain}"""
LATE, NEVER, HOUR = "EMIT LATE ON UPDATE ", "EMIT LATE NEVER ", "RETAIN INTERVAL '1' HOUR"


def totals(having: str = "", emit: str = LATE, retain: str = HOUR) -> str:
    return TOTALS.format(having=having, emit=emit, retain=retain)


ACCEPTED = {
    "another sink": (totals(), totals().replace("one", "two")),
    "a sink for expired rows": (totals(), totals() + " EXPIRED INTO two"),
    "expired rows that are counted": (totals(), totals() + " EXPIRED COUNT"),
    "the select list": (
        totals().replace("SUM(value)", "SUM(value) + 1"),
        totals().replace("SUM(value)", "SUM(value) + 2").replace("AS total", "AS sum_and_2"),
    ),
    "a column fewer of the keys": (totals(), totals().replace("SELECT product, ", "SELECT ")),
    "HAVING, of results sent once": (
        totals("HAVING COUNT(*) > 2 ", NEVER),
        totals("HAVING COUNT(*) > 1 AND product <> 'gin' ", NEVER),
    ),
    "HAVING where there was none, of results sent once": (
        totals("", NEVER),
        totals("HAVING COUNT(*) > 1 ", NEVER),
    ),
    "a longer RETAIN": (totals(), totals(retain="RETAIN INTERVAL '2' HOUR")),
    "a shorter RETAIN": (totals(), totals(retain="RETAIN INTERVAL '5' MINUTE")),
    "WHERE, where nothing is kept": (
        "SELECT product FROM orders WHERE value > 0",
        "SELECT product, value FROM orders WHERE value > 1",
    ),
}
TOPIC = """CREATE STREAM t (product STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'kafka', topic = 'orders', {options});
SELECT product, COUNT(*) AS n FROM (SELECT product, ts FROM t) GROUP BY product,
TUMBLE(ts, INTERVAL '1' MINUTE)"""


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("servers = 'a:1'", "servers = 'b:2'"),
        ("servers = 'a:1'", "servers = 'a:1', start = 'latest', 'max.records' = '7'"),
        ("servers = 'a:1', 'idle.timeout' = '1 s'", "servers = 'a:1', wait = '1 minute'"),
        ("servers = 'a:1'", "servers = 'a:1', 'kafka.security.protocol' = 'SSL'"),
    ],
)
def test_where_rows_are_found_and_how_fast_they_are_read_may_change(was: str, now: str) -> None:
    old, new = (script(TOPIC.format(options=each)).queries[0] for each in (was, now))
    assert why_not(old, new) is None
    other = script(TOPIC.format(options=was).replace("'orders'", "'sales'")).queries[0]
    assert why_not(old, other) is not None


SESSIONS = """SELECT product, COUNT(*) AS n FROM orders
GROUP BY product, SESSION(ts, INTERVAL '10' SECOND) RETAIN INTERVAL '1' HOUR"""
OVER = """SELECT product, SUM(value) OVER (PARTITION BY product ORDER BY ts
  RANGE INTERVAL '1' MINUTE PRECEDING) AS s FROM orders RETAIN INTERVAL '1' HOUR"""
REFUSED = {
    "WHERE": (
        totals(),
        totals().replace("value < 100", "value < 99"),
        "WHERE was value < 100, is value < 99",
    ),
    "the window": (
        totals(),
        totals().replace("'1' MINUTE", "'2' MINUTE"),
        "the size of the window was 1 minute, is 2 minutes",
    ),
    "the keys": (
        totals(),
        totals().replace("SELECT product, ", "SELECT ").replace("BY product, ", "BY "),
        "the keys were product, are none",
    ),
    "the aggregates": (
        totals(),
        totals().replace("SUM(value)", "MAX(value)"),
        "an aggregate was sum(value) AS total, is max(value) AS total",
    ),
    "the name of an aggregate": (
        totals(),
        totals().replace("AS total", "AS sum"),
        "an aggregate was sum(value) AS total, is sum(value) AS sum",
    ),
    "another aggregate": (
        totals(),
        totals().replace("AS n", "AS n, MIN(value) AS least"),
        "the aggregates were sum(value) AS total, count(*) AS n, are sum(value) AS total,",
    ),
    "LATE": (totals(), totals(emit=NEVER), "LATE was on update, is never"),
    "HAVING, of results that are corrected": (
        totals("HAVING COUNT(*) > 2 "),
        totals("HAVING COUNT(*) > 1 "),
        "results that were sent may be corrected: late rows correct it",
    ),
    "the select list, of a sink that retracts": (
        totals().replace("one", "both"),
        totals().replace("one", "both").replace("SELECT product, ", "SELECT "),
        "its sink retracts what was sent",
    ),
    "whether the sink retracts": (
        totals(),
        totals().replace("one", "both"),
        "the sink took the new rows only, takes both halves of a change",
    ),
    "the stream": (
        "SELECT product FROM orders",
        "SELECT product FROM other",
        "the name of the stream other was orders, is other",
    ),
    "RETAIN of sessions": (
        SESSIONS,
        SESSIONS.replace("'1' HOUR", "'2' HOUR"),
        "RETAIN was 1 hour, is 2 hours",
    ),
    "RETAIN of OVER": (
        OVER,
        OVER.replace("'1' HOUR", "'2' HOUR"),
        "RETAIN was 1 hour, is 2 hours",
    ),
    "a frame": (
        OVER,
        OVER.replace("'1' MINUTE", "'2' MINUTE"),
        "the PRECEDING of the frame was 1 minute, is 2 minutes",
    ),
    "a parameter": (
        totals(),
        totals().replace("100", ":most"),
        "WHERE was value < 100, is value < 7",
    ),
}
BRANCHES = """INSERT INTO one SELECT window_start, n FROM (
  SELECT window_start, COUNT(*) AS n FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
  GROUP BY window_start, window_end {emit}
  UNION ALL
  SELECT window_start, SUM(value) AS n
  FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
  GROUP BY window_start, window_end {emit}
) {where}"""
REFUSED["a filter over branches that are corrected"] = (
    BRANCHES.format(emit=LATE, where=""),
    BRANCHES.format(emit=LATE, where="WHERE n > 1"),
    "results that were sent may be corrected: results below union change",
)
Row = dict[str, Any]


def land(home: Path, name: str, *rows: tuple[str, str, int]) -> None:
    (home / "orders").mkdir(exist_ok=True)
    lines = [
        json.dumps({"product": product, "value": value, "ts": f"2024-01-01T{at}Z"})
        for product, at, value in rows
    ]
    (home / "orders" / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


FIRST = (("tea", "09:00:10", 1), ("tea", "09:00:20", 2), ("ale", "09:00:30", 4))
SECOND = (("tea", "09:01:10", 8), ("ale", "09:01:50", 16), ("ale", "09:01:51", 32))
THIRD = (("tea", "09:02:40", 1), ("ale", "09:02:50", 1), ("tea", "09:00:40", 64))


def run_on(home: Path, text: str, kept: bool = True, drain: bool = False) -> list[Row]:
    shown: list[pl.DataFrame] = []
    options = RunOptions(home, home / "state" if kept else None, drain=drain, show=shown.append)
    run(script(STREAM + text, params={"most": "7"}), options)
    return [row for frame in shown for row in frame.to_dicts()]


def sent(home: Path, sink: str) -> dict[str, Row]:
    """The last revision of each row of a sink, without what tells of changes."""
    found: dict[str, Row] = {}
    for file in sorted((home / sink).glob("*.jsonl")):
        for row in map(json.loads, file.read_text().splitlines()):
            found[row["row_key"]] = row
    return {
        key: {name: row[name] for name in row if name not in ("op", "emit", "revision")}
        for key, row in found.items()
        if row["op"] != "-D"
    }


@pytest.mark.parametrize("what", ACCEPTED)
def test_accepted_and_what_is_sent_from_then_on_is_right(tmp_path: Path, what: str) -> None:
    was, now = ACCEPTED[what]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    for home in (whole, cut):
        home.mkdir()
        land(home, "1", *FIRST)
        land(home, "2", *SECOND)
    first = run_on(cut, was)
    earlier = {**sent(cut, "one")}
    for home in (whole, cut):
        land(home, "3", *THIRD)
    sink = "two" if "INSERT INTO two" in now else "one"
    new = [*first, *run_on(cut, now, drain=True)]
    every = run_on(whole, now, kept=False)
    wanted, found = sent(whole, sink), sent(cut, sink)
    since = {key: row for key, row in found.items() if row != earlier.get(key)}
    assert since == {key: wanted[key] for key in since}  # nothing that the new query does not say
    late = {key for key in wanted if json.loads(key)[1][11:16] in ("09:01", "09:02")}
    assert {key: found.get(key) for key in late} == {key: wanted[key] for key in late}
    if not wanted:
        assert new[-1] in every and len(new) > len(first)
    assert state(cut / "state").windows() is not None if wanted else True


@pytest.mark.parametrize("what", REFUSED)
def test_refused_with_the_difference(tmp_path: Path, what: str) -> None:
    was, now, why = REFUSED[what]
    land(tmp_path, "1", *FIRST)
    run_on(tmp_path, was)
    with pytest.raises(RunError, match="belongs to another script") as refused:
        run_on(tmp_path, now)
    assert why in str(refused.value)
    run_on(tmp_path, was)


def test_another_number_of_queries_before_it(tmp_path: Path) -> None:
    land(tmp_path, "1", *FIRST)
    run_on(tmp_path, totals())
    with pytest.raises(RunError, match="belongs to another script"):
        run_on(tmp_path, f"{OVER}; {totals()}")
    assert run_on(tmp_path, f"{totals()}; SELECT product FROM orders")[-1]["product"] == "ale"
    assert run_on(tmp_path, totals()) == []


def test_a_store_says_the_difference(tmp_path: Path) -> None:
    text = STREAM + "SELECT product, COUNT(*) * 2 AS n FROM orders GROUP BY product"
    query = sqlwin.query(text, store=tmp_path / "store")
    query.push("orders", [{"product": "tea", "value": 1, "ts": "2024-01-01T09:00:00Z"}])
    query.flush()
    with pytest.raises(InputError, match=r"give this one .* own: an aggregate was count"):
        sqlwin.query(text.replace("COUNT(*)", "SUM(value)"), store=tmp_path / "store")
    again = sqlwin.query(text.replace("* 2 AS n", "* 3 AS m"), store=tmp_path / "store")
    again.push("orders", [{"product": "tea", "value": 1, "ts": "2024-01-01T09:00:00Z"}])
    again.flush()
    sqlwin.query(text.replace("* 2 AS n", "* 3 AS m"), store=tmp_path / "store")


MINUTES = STREAM + (
    "SELECT window_start, COUNT(*) AS n FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), "
    "INTERVAL '1' MINUTE) GROUP BY window_start, window_end EMIT LATE ON UPDATE RETAIN {}"
)


def pushed(query: sqlwin.EmbeddedQuery, *at: str) -> list[tuple[str, int]]:
    rows = [{"product": "tea", "value": 1, "ts": f"2024-01-01T{ts}Z"} for ts in at]
    query.push("orders", rows)
    found = query.results().to_pylist()
    return [(f"{row['window_start']:%H:%M}", row["n"]) for row in found]


def test_under_a_longer_retain_what_was_retired_stays_so(tmp_path: Path) -> None:
    """At 09:10 the minutes up to 09:07 have gone: a row of theirs would begin them anew."""
    file, minute, hour = tmp_path / "store", "INTERVAL '2' MINUTE", "INTERVAL '1' HOUR"
    query = sqlwin.query(MINUTES.format(minute), store=file)
    pushed(query, "09:06:00", "09:08:30", "09:10:05")
    query.flush()
    for _ in range(2):  # it is known after a restart, too
        longer = sqlwin.query(MINUTES.format(hour), store=file)
        assert pushed(longer, "09:06:30", "09:07:59") == []
        assert longer.refused() == {"expired": 2}
        longer.flush()
    assert pushed(longer, "09:08:10") == [("09:08", 2)]
    assert pushed(longer, "09:58:00") == [("09:10", 1)]
    assert pushed(longer, "09:08:20", "09:10:20") == [("09:08", 3), ("09:10", 2)]
    longer.flush()
    shorter = sqlwin.query(MINUTES.format(minute), store=file)
    pushed(shorter, "09:59:00")
    shorter.flush()
    again = sqlwin.query(MINUTES.format(hour), store=file)
    assert pushed(again, "09:08:50", "09:55:59") == []
    assert again.refused() == {"expired": 2}


HOPS = STREAM + (
    "SELECT window_end, COUNT(*) AS n, MEDIAN(value) AS middle FROM HOP(TABLE orders, "
    "DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE) "
    "GROUP BY window_start, window_end EMIT LATE ON UPDATE RETAIN INTERVAL '{}' SECOND"
)


def test_a_retain_that_changes_before_any_row_came(tmp_path: Path) -> None:
    query = sqlwin.query(MINUTES.format("INTERVAL '2' MINUTE"), store=tmp_path / "store")
    query.flush()
    longer = sqlwin.query(MINUTES.format("INTERVAL '1' HOUR"), store=tmp_path / "store")
    assert pushed(longer, "09:00:10", "09:01:10") == [("09:00", 1)]


@pytest.mark.parametrize("seed", range(8))
def test_whatever_retain_becomes_each_window_counts_what_it_was_alive_for(seed: int) -> None:
    """A window is alive until the watermark is RETAIN past its end, under any RETAIN so far."""
    rng, blobs = random.Random(seed), DictBlobs()
    counted: Counter[int] = Counter()
    emitted: dict[int, int] = {}
    now = newest = 600  # seconds
    horizon = 0
    for life in range(6):
        retain = rng.choice([0, 30, 60, 180, 600])
        horizon = max(horizon, newest - 5 - retain) if life else 0
        query = EmbeddedQuery(script(HOPS.format(retain)), blobs=blobs, token=f"life{life}")
        for _ in range(8):
            now += rng.randint(0, 40)
            at = max(600, now - rng.choice([0, 0, 0, 60, 200, 500]))
            ends = (at // 60 * 60 + 60, at // 60 * 60 + 120)
            counted.update(end for end in ends if end > horizon)
            newest = max(newest, at)
            horizon = max(horizon, newest - 5 - retain)
            query.push("orders", [{"product": "tea", "value": 1, "ts": _instant(at)}])
            fold(query, emitted)
        query.flush()
    query.drain()
    fold(query, emitted)
    assert emitted == dict(counted)


def fold(query: EmbeddedQuery, emitted: dict[int, int]) -> None:
    for row in query.results().to_pylist():
        emitted[round(row["window_end"].timestamp()) - DAY] = row["n"]


DAY = 1_704_067_200


def _instant(second: int) -> str:
    return datetime.fromtimestamp(DAY + second, timezone.utc).isoformat()
