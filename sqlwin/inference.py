"""The columns of a file, as the CREATE STREAM that would read it.

A column has the first type that every value of the sample has, read as the source would read it;
else it is text. Of JSON a text stays text, unless all of its kind are instants or dates. The
first column of instants is the event time, and the watermark stays as far behind as rows of the
sample come behind later ones. Without one `sqlwin infer` reads a text that is mostly a time in
another format by TO_TIMESTAMP, as a column of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

import polars as pl
import pyarrow as pa

from sqlwin.errors import InputError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.files.globbing import listing
from sqlwin.runtime.formats import csv_lines, json_lines
from sqlwin.runtime.formats.content import FAILURES, is_compressed, text
from sqlwin.runtime.formats.lines import BOM, Lines
from sqlwin.schema import Column, Schema, type_name, type_names
from sqlwin.sql import script

SAMPLE_BYTES, SAMPLE_ROWS, SAMPLE_FILES = 1 << 20, 10_000, 5
FORMATS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}
"""By suffix; any other file has JSON lines, or CSV where its first line is no object."""
ODD = 0.25
"""Of the values of a column, that may be of another type than the others."""
DELIMITERS = (",", "\t", ";", "|")
NUMBERS = ("BIGINT", "DOUBLE", "BOOLEAN")
TIMES = ("DATE", "TIMESTAMP")
TYPES: Mapping[str, pa.DataType] = {
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "STRING": pa.string(),
}
_WORDS = frozenset(
    [
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP",
        "ORDER",
        "WATERMARK",
        "OFFSET",
        "PRIMARY",
        "TABLE",
        "STREAM",
        "IF",
        "OVER",
    ]
)


@dataclass(frozen=True)
class Inferred:
    """columns: SQL's type by name. time: the column of event time, if one has instants.

    behind: by how many microseconds rows of the sample come behind later ones. computed: an
    expression that gives the event time, where no column is one. odd: of a text whose values are
    mostly of another type, that type and how many values are not.
    """

    path: str
    format: str
    columns: Mapping[str, str]
    time: str | None = None
    behind: int = 0
    delimiter: str = ","
    computed: str = ""
    odd: Mapping[str, tuple[str, int]] = field(default_factory=dict)

    def ddl(self, name: str) -> str:
        """CREATE STREAM, as a script has it."""
        lines = [f"{_named(column)} {type_}" for column, type_ in self.columns.items()]
        if self.time is not None:
            at = _named(self.time)
            lines += [f"{at} AS {self.computed}"] if self.computed else []
            seconds = -(-self.behind // 1_000_000)
            delay = f" - INTERVAL '{seconds}' SECOND" if seconds else ""
            lines.append(f"WATERMARK FOR {at} AS {at}{delay}")
        options = {"connector": "files", "path": self.path, "format": self.format}
        if self.delimiter != ",":
            options["delimiter"] = self.delimiter
        given = ", ".join(f"{key} = {_text(value)}" for key, value in options.items())
        return f"CREATE STREAM {_named(name)} (\n  " + ",\n  ".join(lines) + f"\n) WITH ({given});"

    def notes(self) -> list[str]:
        """What to look at."""
        return [
            f"{_named(column)} is STRING for {many} odd value{'s' * (many > 1)}; declared {type_}, "
            f"such rows go to the error stream"
            for column, (type_, many) in self.odd.items()
        ]


def inferred_from(base: Path) -> Callable[[str, str], Stream]:
    """What `script` declares a file of FROM by. base: what paths are relative to."""

    def stream(path: str, name: str) -> Stream:
        (made,) = script(infer(path, base).ddl(name)).streams
        return made

    return stream


def infer(path: str, base: Path = Path()) -> Inferred:
    """Of a file; of a folder or a pattern some of its files, from the first to the last.
    InputError where there is none, or it has no columns. base: what a path is relative to."""
    files = listing(path, base)
    if not files:
        under = "" if base == Path() or Path(path).is_absolute() else f"; it is relative to {base}"
        raise InputError(f"no file matches {path}{under}")
    first = files[0]
    format_ = FORMATS.get(Path(first).suffix.lower())
    try:
        if format_ == "parquet":
            return _parquet(path, first)
        data = _sample(files)
    except (*FAILURES, pl.exceptions.PolarsError) as error:
        raise InputError(f"cannot read {first}: {error}") from None
    found = _csv(path, data) if format_ or not data.lstrip().startswith(b"{") else _json(path, data)
    if not found.columns:
        raise InputError(f"{first} has no columns: it is empty")
    return found


def _parquet(path: str, file: str) -> Inferred:
    frame = pl.scan_parquet(file).head(SAMPLE_ROWS).collect()
    columns = {field.name: _arrow_type(field.type) for field in frame.to_arrow().schema}
    return _timed(Inferred(path, "parquet", columns), frame)


def _arrow_type(type_: pa.DataType) -> str:
    """What the source reads it as: integers of any width fit into the next of ours."""
    if pa.types.is_timestamp(type_):
        return "TIMESTAMP"
    if pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return "STRING"
    if pa.types.is_unsigned_integer(type_):
        return "DECIMAL(20, 0)" if type_.bit_width == 64 else "BIGINT"
    name = type_name(type_)
    return name if name.partition("(")[0] in (*type_names(), "DECIMAL") else "STRING"


def _csv(path: str, data: bytes) -> Inferred:
    widths = {cut: len(csv_lines.header_of(data, cut).names) for cut in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda cut: widths[cut])
    header = csv_lines.header_of(data, delimiter)

    def decode(columns: Schema) -> Lines:
        return csv_lines.decode(data, columns, header, delimiter).lines

    texts = dict.fromkeys(header.names, (*NUMBERS, *TIMES))
    return _typed(Inferred(path, "csv", {}, delimiter=delimiter), texts, decode)


def _json(path: str, data: bytes) -> Inferred:
    def decode(columns: Schema) -> Lines:
        return json_lines.decode(data, columns).lines

    return _typed(Inferred(path, "json", {}), dict(_json_names(data)), decode)


def _json_names(data: bytes) -> Iterator[tuple[str, Sequence[str]]]:
    """Names in the order in which lines bring them, with the types that they may have."""
    kinds: dict[str, set[type]] = {}
    for line in data.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        for name, value in row.items() if isinstance(row, dict) else ():
            kinds.setdefault(name, set()).update([] if value is None else [type(value)])
    for name, found in kinds.items():
        yield name, TIMES if found == {str} else NUMBERS if found and str not in found else ()


def _typed(
    empty: Inferred, names: Mapping[str, Sequence[str]], decode: Callable[[Schema], Lines]
) -> Inferred:
    """names: with the types that are tried, in their order."""
    whole = decode(tuple(Column(name, TYPES["STRING"]) for name in names))
    columns: dict[str, str] = {}
    for name, tried in names.items():
        there = whole.rows[name].drop_nulls().len() > 0
        fits = (
            type_
            for type_ in tried
            if there and _fits(decode((Column(name, TYPES[type_]),)), name, whole)
        )
        columns[name] = next(fits, "STRING")
    odd = {
        name: mostly
        for name, type_ in columns.items()
        if type_ == "STRING" and (mostly := _mostly(decode, name, names[name], whole))
    }
    found = replace(empty, columns=columns, odd=odd)
    return _timed(found, decode(tuple(Column(n, TYPES[t]) for n, t in columns.items())).rows)


def _mostly(
    decode: Callable[[Schema], Lines], name: str, tried: Sequence[str], whole: Lines
) -> tuple[str, int] | None:
    """The type of all values but a few, and how many those are."""
    there = whole.rows[name].drop_nulls().len()
    for type_ in tried:
        read = decode((Column(name, TYPES[type_]),))
        broken = len(read.bad.keys() - whole.bad.keys())
        if 0 < broken <= there * ODD:
            return type_, broken
    return None


def with_time(found: Inferred, base: Path = Path()) -> Inferred:
    """With the event time computed of a text, or of a number, where no column is an instant."""
    if found.time is not None:
        return found
    from sqlwin.runtime.formats.time_texts import format_of

    rows = _texts(found, base)
    for name in (name for name, type_ in found.columns.items() if type_ == "STRING"):
        given = format_of(rows[name]) if name in rows.columns else None
        if given is not None:
            text = f"TO_TIMESTAMP({_named(name)}, {_text(given.pattern)})"
            odd = {column: each for column, each in found.odd.items() if column != name}
            behind = _behind(given.instants)
            return replace(found, time=_free(found), computed=text, behind=behind, odd=odd)
    return found


def _texts(found: Inferred, base: Path) -> pl.DataFrame:
    """Of the sample, as texts; none of Parquet, whose times are typed."""
    if found.format == "parquet":
        return pl.DataFrame()
    schema = tuple(Column(name, TYPES["STRING"]) for name in found.columns)
    data = _sample(listing(found.path, base))
    if found.format == "json":
        return json_lines.decode(data, schema).lines.rows
    header = csv_lines.header_of(data, found.delimiter)
    return csv_lines.decode(data, schema, header, found.delimiter).lines.rows


def _free(found: Inferred) -> str:
    taken = {name.lower() for name in found.columns}
    return next(
        name for name in ("event_time", "event_time_1", "event_time_2") if name not in taken
    )


def _fits(read: Lines, name: str, whole: Lines) -> bool:
    """Whether no value is malformed as this type, and none that is there becomes NULL."""
    broken = read.bad.keys() - whole.bad.keys()
    return not broken and read.rows[name].null_count() == whole.rows[name].null_count()


def _timed(found: Inferred, rows: pl.DataFrame) -> Inferred:
    time = next((name for name, type_ in found.columns.items() if type_ == "TIMESTAMP"), None)
    if time is None:
        return found
    return replace(found, time=time, behind=_behind(rows[time]))


def _behind(times: pl.Series) -> int:
    instants = times.drop_nulls().cast(pl.Datetime("us")).to_physical()
    behind = (instants.cum_max() - instants).max() if len(instants) else 0
    return int(behind or 0)  # type: ignore[arg-type]


def _sample(files: Sequence[str]) -> bytes:
    """The beginnings of some files, one behind the other; a header that all have, once."""
    chosen = files[:: max(1, -(-len(files) // SAMPLE_FILES))]
    first, *others = (_head(file).removeprefix(BOM) for file in chosen)
    header = first.splitlines(keepends=True)[0] if first else b""
    return b"".join([_ended(first), *(_ended(each.removeprefix(header)) for each in others)])


def _ended(data: bytes) -> bytes:
    return data if data.endswith(b"\n") or not data else data + b"\n"


def _head(file: str) -> bytes:
    """Whole lines from the beginning, some `SAMPLE_BYTES` of them."""
    if is_compressed(file):
        return _cut(text(file))
    with Path(file).open("rb") as opened:
        return _cut(opened.read(SAMPLE_BYTES + 1))


def _cut(data: bytes) -> bytes:
    if len(data) <= SAMPLE_BYTES:
        return data
    return data[: data.rfind(b"\n", 0, SAMPLE_BYTES) + 1] or data


def _named(name: str) -> str:
    """In backquotes where bare it might be read as something else."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None
    return name if plain and name.upper() not in _WORDS else "`" + name.replace("`", "``") + "`"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("\t", "\\t").replace("'", "''") + "'"
