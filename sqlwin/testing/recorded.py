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

from sqlwin.errors import InputError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.properties.facts import sources_of, tables_of
from sqlwin.runtime.connectors.pieces import every_piece
from sqlwin.runtime.connectors.sources import FileSource, Source, source_of
from sqlwin.runtime.files.pieces import Piece
from sqlwin.schema import PART, SEQ
from sqlwin.testing.cells import Table, cell, of_arrow, write
from sqlwin.testing.checks import rewritten
from sqlwin.testing.feeds import whole
from sqlwin.testing.golden import Block, Golden
from sqlwin.testing.opened import bound
from sqlwin.testing.runner import EMBEDDED

ROWS, STATIC_ROWS, STEP = 20, 1_000, 5


def record(
    query: Path,
    golden: Path,
    rows: int = ROWS,
    params: dict[str, str] | None = None,
    named: str | None = None,
) -> Golden:
    """The golden of a script as `golden` would hold it; nothing is written.

    rows: of each stream. named: which query of several. InputError where a source cannot be read
    or has no rows; QueryError for a mistake in the script.
    """
    script = Path(os.path.relpath(query, golden.parent)).as_posix()
    title = query.stem.replace("_", " ")
    head = {"title": f"the first rows of {title}", "why": "a change of its results is to be seen"}
    head |= {} if named is None else {"query": named}
    head |= {f"param {name}": text for name, text in (params or {}).items()}
    bare = Golden(golden.stem, head, (Block("query", script, ()),), golden.parent)
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
        yield _feed(name, _first(streams[name], base, STATIC_ROWS))
    cut = [
        [_feed(name, part) for part in _slices(_first(stream, base, rows))]
        for name, stream in streams.items()
        if name not in static
    ]
    yield from (feed for turn in zip_longest(*cut) for feed in turn if feed is not None)


def _slices(rows: Table) -> Iterator[Table]:
    for at in range(0, len(rows.rows), STEP):
        yield replace(rows, rows=rows.rows[at : at + STEP])


def _feed(stream: str, rows: Table) -> Block:
    return Block("feed", stream, tuple(write(rows)))


def _first(stream: Stream, base: Path, rows: int) -> Table:
    """Malformed rows of a file among them, for they are part of what comes; of another source
    they are passed over."""
    source, found = source_of(stream), list[Table]()
    for piece, number in every_piece(source, base):
        found.append(_read(source, piece, number))
        if sum(len(each.rows) for each in found) >= rows:
            break
    every = tuple(row for each in found for row in each.rows)
    if not every:
        raise InputError(f"{stream.name} has no rows to record: its source is empty")
    return replace(found[0], rows=every[:rows])


def _read(source: Source, piece: Piece, number: int) -> Table:
    came = source.read(piece, number)
    if isinstance(source, FileSource) and len(came.errors) and piece.lo == 0:
        rows = whole(piece.path, source.stream, Path(piece.path).name)
        columns = tuple(column.name for column in source.stream.columns)
        return Table(columns, tuple(tuple(cell(row[name]) for name in columns) for row in rows))
    return of_arrow(came.rows.drop(PART, SEQ).to_arrow())
