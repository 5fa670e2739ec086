"""State of a stage that is cut into buckets, cut into another number of them.

A bucket has all state of its keys, so a record goes where the rows of its keys go:

| a record                                         | its new bucket                             |
|--------------------------------------------------|--------------------------------------------|
| has the columns that rows are cut by             | by these; of a pair, of the row it has     |
| is of a position or a pair of positions          | that of the rows stored with that position |
|                                                  | on the same side of a join                 |
| has neither: positions that were read, revisions | all: only what belongs to a bucket is      |
| by row key                                       | looked up there                            |

A row that was retracted is still known where its key was. Its position may be there again by
another key, in another bucket; if both keys go to one bucket now, the row that is there counts, and
what is known of it by its position.

Numbers of TTL entries are of a bucket, so they are given anew. Horizons of single keys go to
all buckets, and concern none but those keys. What a header has of time is the same in all buckets,
for each takes part in every batch; of a position the greatest counts.

Invariant: a scan of all old buckets and one of all new ones find the same records, but for those
that all buckets have, and the numbers of TTL entries.

Worked example, tumbling windows by product, from 1 bucket to 2: the panes of tea and coffee lie
together. By the hash of `product` tea goes to bucket 0 and coffee to 1, both with the same header.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sqlwin.errors import StateError
from sqlwin.instants import END, START
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.runtime.checkpoint.task_state import METADATA, Metadata, TaskState
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.schema import POSITION, WEIGHT
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.contract import Blobs
from sqlwin.state.segments.store import SegmentStore
from sqlwin.state.ttl.entries import LIFE, ttl_store_name
from sqlwin.state.ttl.entries import STORE as TTL_ENTRIES
from sqlwin.state.ttl.join_entries import life_of
from sqlwin.state.ttl.pair_store import NOBODY

BucketOf = Callable[[pl.DataFrame, tuple[str, ...], int], Iterable[int]]
"""Of rows, the columns that they are cut by, and the number of buckets: the bucket of each."""

SIDES = ("left", "right")
TABLES = (TTL_ENTRIES, *map(ttl_store_name, SIDES))
PREFIXES = {"": None, "__left.": "left", "__right.": "right"}
"""Of the columns of a position: of the row itself, and of the rows of a pair, each of a side."""
ALL = -1
TO, FROM, NEW, THERE = "__to_bucket", "__from_bucket", "__new_number", "__holds"
OWN = (TO, FROM, THERE)
"""Of a record: its new bucket, its old one, and whether its row is not retracted."""


def blobs_of(metadata: Metadata) -> list[str]:
    """Names of the blobs that a header counts on, but its own."""
    indexes = metadata["stores"].values()
    return [each["name"] for index in indexes for each in (*index["segments"], *index["cuts"])]


def rebucketed(
    query: Lowered, buckets: Sequence[Blobs], count: int, bucket_of: BucketOf
) -> list[DictBlobs]:
    """The state of a stage in `count` buckets. Segments have names that no other has, for caches
    know them by these.

    StateError where a bucket has no header, or one that cannot be read.
    """
    states = [TaskState(blobs) for blobs in buckets]
    headers = [state.metadata() for state in states]
    if not headers or not all(headers):
        raise StateError("the state of a bucket is missing: it has no header")
    if len(buckets) == count == 1:
        return [_copied(buckets[0], headers[0])]
    opened = [
        state.segment_stores(query, header) for state, header in zip(states, headers, strict=True)
    ]
    made, token = [DictBlobs() for _ in range(count)], uuid.uuid4().hex[:16]
    entries = _Entries.of([{n: s for n, s in each.items() if n in TABLES} for each in opened])
    records = {
        spec.name: _Records(spec, entries, [each[spec.name] for each in opened])
        for spec in query.stores
    }
    placed = _placed(query, records, count, bucket_of)
    indexes: list[dict[str, Any]] = [{} for _ in made]
    for name, each in records.items():
        for at, blobs in enumerate(made):
            store = SegmentStore(each.like.layout, each.like.combine, blobs)
            store.put(_one_each(placed[name].filter(pl.col(TO).is_in([at, ALL])), each.like))
            store.expire(min(one.horizon for one in each.stores))
            for horizons in each.horizons:
                store.cut(horizons)
            indexes[at][name] = store.flush(f"{token}.{at}")
    for blobs, index in zip(made, indexes, strict=True):
        header = {**_header(headers), "ttl": entries.header(headers), "stores": index}
        blobs.put(METADATA, json.dumps(header).encode())
    return made


def _one_each(records: pl.DataFrame, like: SegmentStore) -> pl.DataFrame:
    """Of several old buckets' records of one identity that of the row that is there."""
    last = records.sort(THERE, maintain_order=True)
    identity = like.layout.identity
    return last.unique(identity, keep="last", maintain_order=True).drop(OWN)


def _copied(blobs: Blobs, header: Metadata) -> DictBlobs:
    names = (METADATA, *blobs_of(header))
    return DictBlobs({name: blobs.get(name) for name in names})


# Where records go.


def _placed(
    query: Lowered, records: Mapping[str, _Records], count: int, bucket_of: BucketOf
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
    store: str, each: _Records, owners: Mapping[str | None, pl.DataFrame]
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


# What is read.


@dataclass(frozen=True)
class _Entries:
    """The TTL entries of all buckets under their new numbers. numbers: by store, of which bucket
    (`__from_bucket`) and which number (`__life`) became which (`__new_number`)."""

    numbers: Mapping[str, pl.DataFrame]

    @staticmethod
    def of(tables: Sequence[Mapping[str, SegmentStore]]) -> _Entries:
        numbers = {}
        for name in tables[0]:
            lifetimes = [
                each[name].scan(START, END).select(pl.lit(at, pl.Int64).alias(FROM), LIFE)
                for at, each in enumerate(tables)
            ]
            whole = pl.concat(lifetimes).sort(LIFE, FROM)
            numbers[name] = whole.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(NEW))
        return _Entries(numbers)

    def renumbered(self, spec: StoreSpec, bucket: int, frame: pl.DataFrame) -> pl.DataFrame:
        """Records, or horizons, of a bucket."""
        if not self.numbers:
            return frame
        own = spec.name if spec.name in TABLES else self._table(spec)
        columns = {LIFE: own, **{life_of(side): ttl_store_name(side) for side in SIDES}}
        for column, table in columns.items():
            if column in frame.columns and table in self.numbers:
                frame = self._one(frame, column, table, bucket)
        return frame

    def _table(self, spec: StoreSpec) -> str:
        return ttl_store_name(spec.ttl) if spec.ttl in SIDES else TTL_ENTRIES

    def _one(self, frame: pl.DataFrame, column: str, table: str, bucket: int) -> pl.DataFrame:
        """Without those whose entry is gone; a pair that has no row of the side has none."""
        known = self.numbers[table].filter(pl.col(FROM) == bucket).select(LIFE, NEW)
        nobody = pl.DataFrame({LIFE: [NOBODY], NEW: [NOBODY]})
        names = frame.columns
        found = frame.join(
            pl.concat([known, nobody]), left_on=column, right_on=LIFE, maintain_order="left"
        )
        return found.with_columns(pl.col(NEW).alias(column)).select(names)

    def header(self, headers: Sequence[Metadata]) -> Any:
        """As `to_json` of the lifetimes: the next number of each, and incremental cleanup from
        the first entry on."""
        known = headers[0].get("ttl")
        if not known:
            return known
        if "next" in known:
            return self._of_table(known, TTL_ENTRIES)
        return {side: self._of_table(each, ttl_store_name(side)) for side, each in known.items()}

    def _of_table(self, known: Mapping[str, Any], table: str) -> dict[str, Any]:
        return {**known, "next": len(self.numbers[table]), "looked": -1}


class _Records:
    """Of a store in all buckets: its records, with the bucket of each, and the horizons of its
    keys."""

    def __init__(self, spec: StoreSpec, entries: _Entries, stores: Sequence[SegmentStore]) -> None:
        self.stores, self.like = stores, stores[0]
        each = [
            entries.renumbered(spec, at, store.scan(START, END)).with_columns(
                pl.lit(at, pl.Int64).alias(FROM)
            )
            for at, store in enumerate(stores)
        ]
        self.records = pl.concat(each)
        self.horizons = [
            entries.renumbered(spec, at, horizons)
            for at, store in enumerate(stores)
            for horizons in store.horizons()
        ]


# Headers.


def _header(headers: Sequence[Metadata]) -> Metadata:
    """One for all buckets, from theirs."""
    if any(each["recovery"] is not None for each in headers):
        raise StateError("a lost message store is not filled again yet: replay its messages first")
    due = [each["pending"] for each in headers if each["pending"] is not None]
    came = [each["last_input"] for each in headers if each["last_input"] is not None]
    return {
        **headers[0],
        "watermarks": _greatest([each["watermarks"] for each in headers]),
        "watermark": max(each["watermark"] for each in headers),
        "pending": min(due, default=None),
        "last_input": max(came, default=None),
        "offsets": _greatest([each["offsets"] for each in headers]),
    }


def _greatest(values: Sequence[Any]) -> Any:
    """Of JSON objects of numbers, each the greatest that one of them has."""
    if not isinstance(values[0], dict):
        return max(values)
    names = dict.fromkeys(name for each in values for name in each)
    return {name: _greatest([each[name] for each in values if name in each]) for name in names}
