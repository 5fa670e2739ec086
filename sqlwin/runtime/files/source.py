"""Files as sources: their rows, in order, with the ones that could not be read.

How lines and columns become values is `formats`'s; here rows get their positions.
A row's position is (file number, row number in the file), packed into `__seq`, and so
survives any cut into batches.

    __seq = file number * 2**32 + row number
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from sqlwin.errors import RunError
from sqlwin.kernels.columns import ascending, constant
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.options.connectors import DEBEZIUM, PARTITIONED
from sqlwin.plan.options.option import boolean
from sqlwin.plan.options.table_options import key_columns
from sqlwin.polars_frames import polars_schema
from sqlwin.runtime.formats import csv_lines
from sqlwin.runtime.formats.column_check import fit, no_names, repeated
from sqlwin.runtime.formats.content import FAILURES, text
from sqlwin.runtime.formats.lines import BOM, Lines, Texts
from sqlwin.runtime.formats.presented import presentable
from sqlwin.runtime.rows.conform import frame_of
from sqlwin.runtime.rows.error_stream import no_rejects, refused, texts
from sqlwin.schema import PART, SEQ

ROWS_IN_A_FILE = 2**32


@dataclass(frozen=True)
class Decoded:
    """rows: declared columns, `__part`, `__seq`. errors: malformed rows, as `rejects`.

    warnings: what is legal, and probably not what was meant.
    """

    rows: pl.DataFrame
    errors: pl.DataFrame
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Found:
    """What a file has. texts: of rows, as they came."""

    lines: Lines
    texts: Texts
    warnings: tuple[str, ...] = ()


def read(
    path: str, number: int, stream: Stream, watermark: int | None = None, shown: str | None = None
) -> Decoded:
    """One whole file, the `number`-th of its stream. shown: its path, where `path` is a copy.

    RunError where it cannot be read, or has no column of the stream.
    """
    shown = path if shown is None else shown
    options = dict(stream.options)
    try:
        if PARTITIONED in options:
            found = _partitioned(path, stream, shown)
        else:
            found = _READERS[options.get("format", "json")](path, stream, shown)
    except (*FAILURES, *csv_lines.FAILURES) as error:
        raise RunError(f"cannot read {shown} of stream {stream.name}: {error}") from error
    return _placed(found, number * ROWS_IN_A_FILE, stream, watermark)


def decoded(frame: pl.DataFrame, first: int, stream: Stream, watermark: int | None) -> Decoded:
    """Rows of any types at positions from `first` on, made into the stream's columns."""
    return _placed(_found(frame, stream), first, stream, watermark)


def _found(frame: pl.DataFrame, stream: Stream, warnings: tuple[str, ...] = ()) -> _Found:
    lines = Lines.of(frame, stream.columns)
    return _Found(lines, lambda at: texts(presentable(frame[list(at)], stream.columns)), warnings)


def _placed(found: _Found, first: int, stream: Stream, watermark: int | None) -> Decoded:
    lines = found.lines
    part = constant(PART, 0, pl.Int32(), len(lines.rows))
    rows = lines.rows.hstack([part, _positions(lines, first)])
    if not lines.bad:
        return Decoded(rows, no_rejects(), found.warnings)
    at = sorted(lines.bad)
    places = pl.DataFrame({PART: [0] * len(at), SEQ: [first + number for number in at]})
    reasons = [f"malformed: {why}" for why in map(lines.bad.get, at)]
    errors = refused(stream.name, places, found.texts(at), reasons, watermark)
    return Decoded(rows, errors, found.warnings)


def _positions(lines: Lines, first: int) -> pl.Series:
    """Of the good rows, whose numbers ascend: where the last one is that of their count, none is
    missing."""
    numbers = lines.numbers
    if len(numbers) and numbers[-1] == len(numbers) - 1:
        return ascending(SEQ, first, len(numbers))
    return pl.Series(SEQ, numbers + first)


def _partitioned(path: str, stream: Stream, shown: str) -> _Found:
    """With the columns that are names of the file's folders; where they are none of their types,
    each row is malformed."""
    options = dict(stream.options)
    folder = folders_of(stream, [folder_texts(stream, shown)])
    given = [c for c in stream.columns if c.name in folder.rows.columns]
    inner = replace(stream, columns=tuple(c for c in stream.columns if c not in given))
    found = _READERS[options.get("format", "json")](path, inner, shown)
    lines = found.lines
    if folder.bad:
        bad = lines.bad | dict.fromkeys(map(int, lines.numbers), folder.bad[0])
        none = pl.DataFrame(schema=polars_schema(stream.columns))
        return replace(found, lines=Lines(none, lines.numbers[:0], bad))
    count, order = len(lines.rows), [c.name for c in stream.columns]
    columns = [each.new_from_index(0, count) for each in folder.rows.iter_columns()]
    rows = lines.rows.hstack(columns).select(order)
    return replace(found, lines=replace(lines, rows=rows))


def folder_texts(stream: Stream, path: str) -> dict[str, str | None]:
    """What a file's folders say, by column. RunError where it is in no such folder."""
    from sqlwin.runtime.files.partitions import values_of  # by need

    names = key_columns(dict(stream.options)[PARTITIONED])
    values = values_of(path, names)
    if len(values) < len(names):
        missing = next(name for name in names if name not in values)
        raise RunError(f"{path} of stream {stream.name} is in no folder {missing}=…")
    found = {name.lower(): text for name, text in values.items()}
    lower = {c.name.lower(): c.name for c in stream.columns}
    return {name: found[each] for each, name in lower.items() if each in found}


def folders_of(stream: Stream, texts_: Sequence[dict[str, str | None]]) -> Lines:
    """The values of folders, each a row; bad where they are none of their types."""
    given = tuple(c for c in stream.columns if c.name in texts_[0])
    schema = {c.name: pl.String for c in given}
    return Lines.of(pl.DataFrame(texts_, schema=schema), given)


def nothing(stream: Stream) -> Decoded:
    """Of a file that is not read."""
    schema = {**polars_schema(stream.columns), PART: pl.Int32(), SEQ: pl.Int64()}
    return Decoded(pl.DataFrame(schema=schema), no_rejects())


def _json(path: str, stream: Stream, shown: str) -> _Found:
    from sqlwin.runtime.formats import debezium, json_lines  # with msgspec, of JSON alone

    decode = (
        debezium.decode if dict(stream.options).get("changelog") == DEBEZIUM else json_lines.decode
    )
    found = decode(text(path), stream.columns)
    warnings = () if found.fits else (no_names(shown, stream.name, _declared(stream)),)
    return _Found(found.lines, found.texts, warnings)


def _csv(path: str, stream: Stream, shown: str) -> _Found:
    data, declared = text(path).removeprefix(BOM), _declared(stream)
    options = dict(stream.options)
    delimiter = options.get("delimiter", ",")
    warnings: tuple[str, ...] = ()
    if boolean(options.get("header", "true")):
        header = csv_lines.header_of(data, delimiter)
        if header.names:
            warnings = fit(shown, stream.name, header.names, declared, delimiter)
        repeated(shown, stream.name, header.names, declared)
    else:
        data, header = csv_lines.headed(data, declared, delimiter)
    found = csv_lines.decode(data, stream.columns, header, delimiter)
    return _Found(found.lines, found.texts, warnings)


def _parquet(path: str, stream: Stream, shown: str) -> _Found:
    declared = _declared(stream)
    names = pl.read_parquet_schema(path)
    warnings = fit(shown, stream.name, list(names), declared, None)
    wanted = [name for name in declared if name in names]
    try:
        frame = pl.read_parquet(path, columns=wanted)
    except pl.exceptions.PolarsError:  # texts that are no UTF-8, say: row by row they are found
        from pyarrow import parquet

        frame = frame_of(parquet.read_table(path, columns=wanted), stream.columns)
    return _found(frame, stream, warnings)


def _declared(stream: Stream) -> list[str]:
    return [column.name for column in stream.columns]


_READERS = {"json": _json, "csv": _csv, "parquet": _parquet}
