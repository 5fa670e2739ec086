"""RETAIN n ROWS by definition: below which event time a key takes no late row any more.

>>> rows = [{"k": "a", "__ts": ts, "__part": 0, "__seq": ts} for ts in (70, 10, 40)]
>>> floor_of(rows, 2, lambda ts: ts), floor_of(rows, 4, lambda ts: ts) == START
(40, True)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import polars as pl

from sqlwin.instants import START
from sqlwin.kernels.reference.rows import Row
from sqlwin.operators.definitions.window import Definition, by_position, key_text
from sqlwin.schema import TS
from sqlwin.state.contract import FLOOR


def by_bucket(rows: Iterable[Row], keys: tuple[str, ...]) -> dict[str, list[Row]]:
    buckets: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        buckets[key_text(row, keys)].append(row)
    return buckets


def floors(rows: Iterable[Row], definition: Definition) -> dict[str, int]:
    """Of each bucket; none where rows are not counted."""
    n = definition.policy.retain_rows
    if n is None:
        return {}
    buckets = by_bucket(rows, definition.buckets)
    return {key: floor_of(held, n, definition.floor_of) for key, held in buckets.items()}


def floor_of(rows: Iterable[Row], n: int, of: Callable[[int], int]) -> int:
    """From the n-th greatest row; START where there are fewer."""
    newest = by_position(rows)[::-1]
    return START if len(newest) < n else of(newest[n - 1][TS])


def floor_frame(taken: Sequence[Row], definition: Definition) -> pl.DataFrame:
    """The same as an operator tells it: a record for each bucket, its keys and `__floor`."""
    keys = {key: definition.carried[key] for key in definition.buckets}
    first = {key_text(row, definition.buckets): row for row in taken}
    records = [
        {**{key: first[text][key] for key in keys}, FLOOR: floor}
        for text, floor in floors(taken, definition).items()
    ]
    return pl.DataFrame(records, schema={**keys, FLOOR: pl.Int64()}, orient="row")
