"""RETAIN n ROWS by definition: below which event time a key takes no late row any more.

A horizon that was reached stays, though rows be retracted.

>>> rows = [{"k": "a", "__ts": ts, "__part": 0, "__seq": ts} for ts in (70, 10, 40)]
>>> floor_of(rows, 2, lambda ts: ts), floor_of(rows, 4, lambda ts: ts) == START
(40, True)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

import polars as pl

from sqlwin.instants import START
from sqlwin.schema import TS
from sqlwin.state.contract import HORIZON
from tests.reference.definitions.window import Definition, by_position, key_text
from tests.reference.kernels.rows import Row

Horizons = dict[str, tuple[int, Row]]


def by_bucket(rows: Iterable[Row], keys: tuple[str, ...]) -> dict[str, list[Row]]:
    buckets: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        buckets[key_text(row, keys)].append(row)
    return buckets


def horizons(rows: Iterable[Row], definition: Definition, before: Horizons) -> Horizons:
    """Of each bucket that has or had so many rows, with a row of it; none where rows are not
    counted. before: what they were."""
    n, reached = definition.policy.retain_rows, dict(before)
    if n is None or definition.by_count:  # past windows of messages are kept to be queried
        return reached
    for key, held in by_bucket(rows, definition.buckets).items():
        floor = floor_of(held, n, definition.floor_of)
        if floor > reached.get(key, (START, held[0]))[0]:
            reached[key] = (floor, held[0])
    return reached


def floor_of(rows: Iterable[Row], n: int, of: Callable[[int], int]) -> int:
    """From the n-th greatest row; START where there are fewer."""
    newest = by_position(rows)[::-1]
    return START if len(newest) < n else of(newest[n - 1][TS])


def floor_frame(found: Horizons, definition: Definition) -> pl.DataFrame:
    """The same as an operator tells it: a record for each bucket, its keys and `__floor`."""
    keys = {key: definition.carried[key] for key in definition.buckets}
    records = [{**{key: row[key] for key in keys}, HORIZON: floor} for floor, row in found.values()]
    return pl.DataFrame(records, schema={**keys, HORIZON: pl.Int64()}, orient="row")
