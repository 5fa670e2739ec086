"""Crashes and losses at random: the last revisions are those of a run that nothing disturbed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlwin
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.plan.ir.statements import Script
from sqlwin.sql import script
from tests.support.draws import one_in
from tests.support.embedded.orders import Watched, without

Row = dict[str, Any]
Batch = list[Row]
STREAM = """
CREATE STREAM orders (
  id BIGINT, k STRING, v BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '20' SECOND, OFFSET id
);
"""
GROUPED = "SELECT k, window_start, MEDIAN(v) AS m, SUM(v) AS s FROM {} GROUP BY k, window_start"
TUMBLE = GROUPED.format("TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)")
HOP = GROUPED.format("HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)")
OVER = "SELECT id, MEDIAN(v) OVER (PARTITION BY k ORDER BY ts {}) AS m FROM orders"
QUERIES = {
    "tumble": TUMBLE + " EMIT LATE ON UPDATE RETAIN INTERVAL '1' DAY",
    "hop": HOP + " EMIT LATE EVERY INTERVAL '10' SECOND RETAIN INTERVAL '90' SECOND",
    "early": HOP + " EMIT EARLY ON UPDATE LATE ON UPDATE RETAIN INTERVAL '1' MINUTE",
    "count": HOP + " RETAIN 4 ROWS",
    "either": TUMBLE + " EMIT LATE ON UPDATE RETAIN INTERVAL '2' MINUTE OR 3 ROWS",
    "range": OVER.format("RANGE INTERVAL '45' SECOND PRECEDING")
    + " EMIT LATE ON UPDATE RETAIN INTERVAL '2' MINUTE",
    "rows": OVER.format("ROWS 2 PRECEDING")
    + " EMIT LATE EVERY INTERVAL '10' SECOND RETAIN INTERVAL '2' MINUTE",
    "following": OVER.format("ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING")
    + " EMIT LATE ON UPDATE RETAIN INTERVAL '1' DAY",
}
SOON = ("tumble", "either", "rows", "following")
"""Of each kind of window, and of retention; the others with the long tests."""
SCRIPTS = {name: script(STREAM + sql) for name, sql in QUERIES.items()}
GO_ON, FLUSH, CRASH, LOSE, LOSE_LAZILY = "go on", "flush", "crash", "lose", "lose lazily"
EVENTS = (GO_ON, GO_ON, FLUSH, CRASH, LOSE, LOSE_LAZILY)
BEGIN = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)


@st.composite
def deliveries(draw: st.DrawFn) -> list[Batch]:
    """Rows in the order of their offsets, out of order in time, in batches."""
    ids, batches = count(1), []
    rows = st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.integers(-90, 15))
    for n in range(draw(st.integers(2, 7))):
        drawn = draw(st.lists(rows, min_size=1, max_size=5))
        batches.append([row(next(ids), k, v, 25 * n + at) for k, v, at in drawn])
    return batches


def row(id_: int, k: str, v: int, second: int) -> Row:
    return {"id": id_, "k": k, "v": v, "ts": BEGIN + timedelta(seconds=second)}


@dataclass
class Emission:
    """Outputs as whoever takes them knows them: those that were flushed."""

    flushed: dict[str, Row] = field(default_factory=dict)

    def take(self, query: EmbeddedQuery) -> None:
        for output in query.results(clear=False).to_pylist():
            known = self.flushed.get(output["row_key"], {"revision": -1})
            assert output["revision"] > known["revision"], "it was sent twice"
            self.flushed[output["row_key"]] = output
        query.flush()

    def last(self) -> dict[str, Row]:
        values = ("k", "window_start", "id", "m", "s")
        return {
            key: {name: output[name] for name in values if name in output}
            for key, output in self.flushed.items()
        }


@dataclass
class Source:
    """Batches of a log. sent: the greatest id delivered; kept: as of the last flush."""

    batches: list[Batch]
    sent: int = 0
    kept: int = 0
    old: list[Batch] = field(default_factory=list)

    def replay(self, first: int) -> None:
        """From a position on; what was flushed comes as `old`, so that it may come later."""
        again = [[row for row in batch if row["id"] >= first] for batch in self.batches]
        self.sent = self.kept
        self.old = [[row for row in batch if row["id"] <= self.kept] for batch in again]
        self.old = [batch for batch in self.old if batch]

    def new(self) -> Batch:
        rest = ([row for row in batch if row["id"] > self.sent] for batch in self.batches)
        return next((batch for batch in rest if batch), [])

    def deliver(self, query: EmbeddedQuery, old: bool) -> None:
        """The next batch; the next old one where a new one comes too early."""
        batch = self.old[0] if old and self.old else self.new()
        try:
            query.push("orders", batch)
        except sqlwin.Incomplete:
            assert self.old and batch is not self.old[0], "a replay that cannot go on"
            return self.deliver(query, old=True)
        if self.old and batch is self.old[0]:
            del self.old[0]
        elif batch:
            self.sent = batch[-1]["id"]
        return None


def undisturbed(parsed: Script, batches: list[Batch]) -> dict[str, Row]:
    query, emissions, source = EmbeddedQuery(parsed), Emission(), Source(batches)
    for n in range(len(batches)):
        query.advance(now=n * 4_000_000)
        source.deliver(query, old=False)
    query.drain()
    emissions.take(query)
    return emissions.last()


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in SOON else pytest.mark.long) for n in QUERIES]
)
@one_in(4)
@given(batches=deliveries(), data=st.data())
def test_the_last_revisions_are_those_of_an_undisturbed_run(
    name: str, batches: list[Batch], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "state"
        assert disturbed(SCRIPTS[name], batches, file, data) == undisturbed(SCRIPTS[name], batches)


def disturbed(
    parsed: Script, batches: list[Batch], file: Path, data: st.DataObject
) -> dict[str, Row]:
    emissions, source, life, events = Emission(), Source(batches), 0, 0
    query = opened(parsed, file, life)
    while source.old or source.new():
        query.advance(now=life * 1_000_000 + source.sent * 4_000_000)
        source.deliver(query, old=data.draw(st.booleans()) if lazily(query) else True)
        query._check()
        what = data.draw(st.sampled_from(EVENTS)) if events < 6 else GO_ON
        if what is GO_ON:
            continue
        events, life = events + 1, life + 1
        if what is not CRASH:
            emissions.take(query)
            source.kept = source.sent
        if what in (LOSE, LOSE_LAZILY):
            without(file)
        if what is not FLUSH:
            query = opened(parsed, file, life, lazy=what is LOSE_LAZILY)
            source.replay(query.offsets()["orders"].get(0, 0))
    query.drain()
    emissions.take(query)
    return emissions.last()


def opened(parsed: Script, file: Path, life: int, lazy: bool = False) -> EmbeddedQuery:
    return EmbeddedQuery(parsed, blobs=Watched(file), token=f"{life}", segment_rows=3, lazy=lazy)


def lazily(query: EmbeddedQuery) -> bool:
    known = query._task.top.recovery
    return known is not None and known.lazy
