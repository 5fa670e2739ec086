"""A delivery through a query: what holds in the end, and the same as the steps of a golden."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import polars as pl

from sqlwin.embedded.output_buffer import fold
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.instants import SECOND
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.rows.conform import Rows
from sqlwin.sql import script
from tests.properties.deliveries import Delivery
from tests.properties.hosts import Host
from tests.properties.question import Question


def streamed(question: Question, delivery: Delivery, host: Host) -> list[tuple[Any, ...]]:
    return ran(question.text, [("s", batch) for batch in delivery], host)


@lru_cache(maxsize=200)
def _bound(text: str) -> Script:
    """What is drawn is mostly a variation of what was: of the same query in two of five cases."""
    return script(text)


def ran(text: str, pushes: Sequence[tuple[str, Rows]], host: Host) -> list[tuple[Any, ...]]:
    """The last revisions. After half of the batches time passes, and hosts that restart do so
    before half of them and before the end: the others find what is in memory still."""
    runs = host(_bound(text))
    query, emissions = next(runs), list[pl.DataFrame]()
    for number, (stream, batch) in enumerate(pushes):
        if len(batch) % 4 > 1:
            query = next(runs)
        query.push(stream, batch)
        if len(batch) % 2:
            query.advance(now=2 * number * SECOND)  # some corrections go out between the batches
        emissions.append(_emissions(query))
    query = next(runs)
    query.drain()
    last = fold(pl.concat([*emissions, _emissions(query)])).filter(pl.col("op") != "-D")
    return last.drop("op", "emit", "revision", "row_key").rows()


def _emissions(query: EmbeddedQuery) -> pl.DataFrame:
    query._check()
    assert query.expired().num_rows == 0
    return pl.DataFrame(pl.from_arrow(query.results()))
