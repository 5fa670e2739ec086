"""State queries find what an end of input would emit, and have no side effects.

After some steps the state is queried, and a copy of the query, made from what it has committed,
is drained. Each row that the copy emits is among the windows, with its values and one revision
less; each that it emits full is an open one, and it emits each open one full.
"""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import assume

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import QueryError
from sqlwin.operators.top_n.operator import TopRows
from sqlwin.operators.windows.runner import TupleRunner
from sqlwin.operators.windows.slider import TupleSlider
from sqlwin.plan.ir.statements import Script
from sqlwin.plan.properties.facts import window_policy
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.testing.cells import of_arrow
from sqlwin.testing.difference import difference
from tests.properties.emissions import after, emissions
from tests.properties.hosts import fast
from tests.properties.plans import NUMBERED, Step, numbered, scripts

CASES = (scripts(NUMBERED), numbered())
UNTOLD = TupleSlider | TupleRunner


def state_queries(script: Script, taken: list[Step]) -> None:
    """Without a TTL: what was emitted and then forgotten is not found."""
    policy = window_policy(script.queries[0].plan)
    assume(policy is None or policy.ttl is None)
    silent = emissions(script, fast, taken)
    blobs = DictBlobs()
    query = EmbeddedQuery(script, blobs=blobs, token="queried", segment_rows=4)
    for at, step in enumerate(taken):
        assert not difference(silent[at], after(query, step)), step
        if not step.restart and at + 1 < len(taken):
            continue
        query.commit()
        copy = EmbeddedQuery(script, blobs=DictBlobs(dict(blobs.blobs)), token="copy")
        copy.drain()
        _agree(query, pl.DataFrame(pl.from_arrow(copy.results())))


def _agree(query: EmbeddedQuery, drained: pl.DataFrame) -> None:
    operator = query._chain.top.operator
    if isinstance(operator, UNTOLD):
        if not isinstance(operator, TupleRunner) and operator.retain_rows is None:
            _refused(query)
        return
    windows = pl.DataFrame(pl.from_arrow(query.windows()))
    last = drained.filter(pl.col("op") != "-D")
    names = [name for name, _ in query._chain.top.output]
    before = windows.with_columns(pl.col("revision").fill_null(-1) + 1)
    columns = ["row_key", "revision", *names]
    found = before.join(last, on="row_key", how="semi")
    # a correction may tell a row early that the end then tells full
    again = pl.int_range(pl.len(), dtype=pl.Int32).over("row_key")
    once = last.with_columns(pl.col("revision") - again).select(columns).unique()
    assert not _difference(once, found.select(columns))
    if not isinstance(operator, TopRows):
        open_ = windows.filter(pl.col("state") == "open")
        passing = open_.filter("passes") if "passes" in windows.columns else open_
        full = set(last.filter(pl.col("emit") == "full")["row_key"])
        assert full == set(passing["row_key"])
    _narrowed(query, windows)


def _narrowed(query: EmbeddedQuery, windows: pl.DataFrame) -> None:
    """By key, and by time or message numbers."""
    keys = query._state_queries._called_keys.values()
    for key in windows.select(*keys).unique().iter_rows(named=True) if keys else ():
        known = pl.all_horizontal(pl.col(name).eq_missing(pl.lit(v)) for name, v in key.items())
        assert not _difference(windows.filter(known), pl.from_arrow(query.fetch(key)))
    if "window_start" in windows.columns:
        start, end = (pl.col(name).cast(pl.Int64) for name in ("window_start", "window_end"))
        inclusive = int("offset" in windows.columns and "first_offset" not in windows.columns)
        held = (start <= 4) & (end > 1 - inclusive)
        assert not _difference(windows.filter(held), pl.from_arrow(query.windows(1, 4)))


def _refused(query: EmbeddedQuery) -> None:
    try:
        query.windows()
    except QueryError:
        return
    raise AssertionError("a sliding window of messages was emitted")


def _difference(expected: pl.DataFrame, found: Any) -> str:
    return difference(of_arrow(expected.to_arrow()), of_arrow(found.to_arrow()))
