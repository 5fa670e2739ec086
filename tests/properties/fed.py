"""Numbered rows of a stream or a table `t` as they are fed: out of order, some of them twice."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sqlwin

Row = dict[str, Any]


def delivered(chance: random.Random, made: Sequence[Row], keyed: bool) -> list[list[Row]]:
    """In batches, out of order, some twice; of keyed ones deletions have the key alone."""
    rows = [*made, *chance.sample(made, len(made) // 4)]
    chance.shuffle(rows)
    if keyed:
        only = ("id", "op", "lsn")
        rows = [r if r["op"] in ("+I", "+U") else {name: r[name] for name in only} for r in rows]
    cuts = sorted(chance.choices(range(len(rows) + 1), k=5))
    return [rows[lo:hi] for lo, hi in zip([0, *cuts], [*cuts, len(rows)], strict=True)]


def answered(text: str, batches: Sequence[Sequence[Row]], store: Path | None) -> list[Row]:
    """The last revisions, where the query is made anew from its store before each batch."""
    query = sqlwin.query(text, store=store)
    for batch in batches:
        if store is not None:
            query.commit()
            query.close()
            query = sqlwin.query(text, store=store)
        query.push("t", list(batch))
    query.drain()
    assert query.refused() == {}
    rows: list[Row] = query.table().to_pylist()
    query.close()
    return rows


def bag(rows: Sequence[Sequence[Any]]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in rows)
