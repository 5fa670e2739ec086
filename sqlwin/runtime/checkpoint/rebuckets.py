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
from collections.abc import Sequence
from typing import Any

import polars as pl

from sqlwin.errors import StateError
from sqlwin.runtime.checkpoint.bucket_records import TABLES, THERE, TO, Entries, Records
from sqlwin.runtime.checkpoint.new_buckets import ALL, OWN, BucketOf, placed
from sqlwin.runtime.checkpoint.task_state import METADATA, Metadata, TaskState
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.contract import Blobs
from sqlwin.state.segments.store import SegmentStore


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
    entries = Entries.of([{n: s for n, s in each.items() if n in TABLES} for each in opened])
    records = {
        spec.name: Records(spec, entries, [each[spec.name] for each in opened])
        for spec in query.stores
    }
    found = placed(query, records, count, bucket_of)
    indexes: list[dict[str, Any]] = [{} for _ in made]
    for name, each in records.items():
        for at, blobs in enumerate(made):
            store = SegmentStore(each.like.layout, each.like.combine, blobs)
            store.put(_one_each(found[name].filter(pl.col(TO).is_in([at, ALL])), each.like))
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
