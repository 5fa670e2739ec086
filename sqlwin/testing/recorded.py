"""A first golden of a query: the first rows of its own sources, and what it makes of them.

Each stream gives its first rows in the order in which they are read, a few in each step; the rows
of a static table come before all others. What the query emits in process is written below each
step: whoever keeps the file has read it and found it right.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import polars as pl

from sqlwin.errors import InputError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.properties.facts import sources_of, tables_of
from sqlwin.runtime.connectors.sources import source_of
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.schema import PART, SEQ
from sqlwin.testing.cells import of_arrow, write
from sqlwin.testing.checks import rewritten
from sqlwin.testing.golden import Block, Golden
from sqlwin.testing.opened import bound
from sqlwin.testing.runner import EMBEDDED

ROWS, STATIC_ROWS, STEP = 20, 1_000, 5


def record(
    query: Path, golden: Path, rows: int = ROWS, params: dict[str, str] | None = None
) -> Golden:
    """The golden of a script as `golden` would hold it; nothing is written.

    rows: of each stream. InputError where a source cannot be read or has no rows; QueryError for a
    mistake in the script.
    """
    named = Path(os.path.relpath(query, golden.parent)).as_posix()
    title = query.stem.replace("_", " ")
    head = {"title": f"the first rows of {title}", "why": "a change of its results is to be seen"}
    head |= {f"param {name}": text for name, text in (params or {}).items()}
    bare = Golden(golden.stem, head, (Block("query", named, ()),), golden.parent)
    feeds = list(_feeds(bare, query.parent, rows))
    made = replace(
        bare, blocks=(*bare.blocks, *feeds, Block("drain", "", ()), Block("table", "", ()))
    )
    outcome = EMBEDDED.run([made])[made.name]
    if outcome.mistake is not None:
        raise InputError(outcome.mistake)
    return rewritten(made, outcome)


def _feeds(golden: Golden, base: Path, rows: int) -> Iterator[Block]:
    """Steps of tables, then of the streams by turns."""
    (query,) = bound(golden).queries
    streams = {stream.name: stream for stream in sources_of(query.plan)}
    static = {table.name for table in tables_of(query.plan)}
    for name in sorted(static):
        yield _feed(name, first_rows(streams[name], base, STATIC_ROWS))
    cut = [
        [_feed(name, part) for part in first_rows(stream, base, rows).iter_slices(STEP)]
        for name, stream in streams.items()
        if name not in static
    ]
    yield from (feed for turn in zip_longest(*cut) for feed in turn if feed is not None)


def _feed(stream: str, rows: pl.DataFrame) -> Block:
    return Block("feed", stream, tuple(write(of_arrow(rows.to_arrow()))))


def first_rows(stream: Stream, base: Path, rows: int) -> pl.DataFrame:
    """Well-formed rows of its source, in the order of the run; malformed ones are passed over.

    InputError where there are none.
    """
    source, progress = source_of(stream), FileProgress()
    source.find(progress, base, ends=True)
    found: list[pl.DataFrame] = []
    for number in progress.left():
        piece = progress.piece(number)
        located = replace(piece, path=source.split(piece.path, base))
        found.append(source.read(located, number).rows.head(rows - sum(map(len, found))))
        if sum(map(len, found)) >= rows:
            break
    if not sum(map(len, found)):
        raise InputError(f"{stream.name} has no rows to record: its source is empty")
    return pl.concat(found).drop(PART, SEQ)
