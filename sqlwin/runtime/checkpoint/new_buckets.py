"""Which new bucket a record goes to: that of the rows of its keys. See `rebuckets`.

Invariant: a record goes where the rows of its keys go, or to all buckets, where it has neither keys
nor a position of such rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import polars as pl

from sqlwin.runtime.checkpoint.bucket_records import FROM, SIDES, THERE, TO, Records
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.schema import POSITION, WEIGHT

BucketOf = Callable[[pl.DataFrame, tuple[str, ...], int], Iterable[int]]
"""Of rows, the columns that they are cut by, and the number of buckets: the bucket of each."""
PREFIXES = {"": None, "__left.": "left", "__right.": "right"}
"""Of the columns of a position: of the row itself, and of the rows of a pair, each of a side."""
ALL = -1
OWN = (TO, FROM, THERE)
"""Of a record: its new bucket, its old one, and whether its row is not retracted."""


def placed(
    query: Lowered, records: Mapping[str, Records], count: int, bucket_of: BucketOf
) -> dict[str, pl.DataFrame]:
    """By store, the records with the new bucket of each, and whether its row is there."""
    cut = [each.keys for each in query.inputs if each.keys]
    known: dict[str, pl.DataFrame] = {}
    for name, each in records.items():
        keyed = _keyed(each.records, cut, count, bucket_of)
        if keyed is not None:
            known[name] = keyed
    owners = {
        side: _owners(frame for name, frame in known.items() if _side(name) == side)
        for side in (None, *SIDES)
    }
    return {
        name: known[name] if name in known else _by_position(name, each, owners)
        for name, each in records.items()
    }


def _side(store: str) -> str | None:
    """Of a join, whose rows a store has, or knows something of."""
    side = store.partition("_")[0]
    return side if side in SIDES else None


def _owners(stored: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Each position of an old bucket once, with the new one of its row. On the two sides of a join
    one position may be of two messages, or be of one, whose keys are not the same there."""
    types = {**{n: pl.Int64() for n in (*POSITION, TO, FROM)}, THERE: pl.Boolean()}
    found = [
        frame.select(*(pl.col(name).cast(pl.Int64) for name in POSITION), *OWN)
        for frame in stored
        if set(POSITION) <= set(frame.columns)
    ]
    owners = pl.concat([pl.DataFrame(schema=types), *found])
    return owners.unique((*POSITION, FROM), keep="first", maintain_order=True)


def _keyed(
    records: pl.DataFrame, cut: Sequence[tuple[str, ...]], count: int, bucket_of: BucketOf
) -> pl.DataFrame | None:
    """By the columns that rows are cut by; of a pair without a row of one side, by the other's."""
    there = pl.col(WEIGHT) > 0 if WEIGHT in records.columns else pl.lit(True)
    records = records.with_columns(there.alias(THERE))
    if not cut:
        return records.with_columns(pl.lit(0, pl.Int64).alias(TO))
    found = [keys for keys in cut if set(keys) <= set(records.columns)]
    if not found:
        return None
    if count == 1:
        return records.with_columns(pl.lit(0, pl.Int64).alias(TO))
    whole = [
        pl.coalesce(*names).alias(f"{at}") for at, names in enumerate(zip(*found, strict=True))
    ]
    by = tuple(map(str, range(len(whole))))
    return records.with_columns(
        pl.Series(TO, list(bucket_of(records.select(whole), by, count)), dtype=pl.Int64)
    )


def _by_position(
    store: str, each: Records, owners: Mapping[str | None, pl.DataFrame]
) -> pl.DataFrame:
    """By the rows that are stored with its position in its old bucket; a position without one, and
    no other column than those, goes to all. owners: by side."""
    records = each.records
    found = [p for p in PREFIXES if {p + name for name in POSITION} <= set(records.columns)]
    if not found or set(records.columns) <= {*POSITION, FROM}:
        known_once = records.unique(each.like.layout.identity, maintain_order=True)
        everywhere = pl.lit(ALL, pl.Int64).alias(TO), pl.lit(True).alias(THERE)
        return known_once.with_columns(everywhere)
    places = [
        records.select(
            *(pl.col(prefix + name).cast(pl.Int64).alias(name) for name in POSITION), FROM
        ).join(
            owners[PREFIXES[prefix] or _side(store)],
            on=[*POSITION, FROM],
            how="left",
            maintain_order="left",
        )
        for prefix in found
    ]
    to = pl.coalesce(*(place[TO] for place in places), 0)
    there = pl.all_horizontal(*(place[THERE].fill_null(True) for place in places))
    return records.with_columns(to.alias(TO), there.alias(THERE))
