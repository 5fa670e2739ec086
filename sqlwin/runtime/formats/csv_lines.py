"""CSV: records of RFC 4180, decoded by one rule, most of them at once.

The rule is `records`: fields are cut at the delimiter, lines end in LF or CR LF, blank
lines are none. A field that begins with a quote ends at the next single quote, before a
delimiter or line end, and may span `LINES` lines; else the line is broken, it alone, and
the next one begins anew. A quote elsewhere is a letter. A field that is empty is NULL, a
quoted one the empty text; of a type that is no text it is NULL as well. Fields that are
missing are NULL, a record with more fields than there are names is broken.

The fast way is Polars' reader over the whole file, which agrees where quotes stand
as they should (`well_quoted`) and no line is blank. Where it fails, the columns are read as
texts; where that fails the good records are written anew, and read the fast way.

>>> from sqlwin.schema import Column
>>> columns = (Column("n", pa.int64()), Column("s", pa.string()))
>>> data = b'n,s\\n1,"a, b"\\n2,"oops\\n3,""\\n4,\\nfive,x\\n6,y,z\\n'
>>> found = decode(data, columns, header_of(data, ","))
>>> found.lines.rows.rows(), found.lines.numbers.tolist()
([(1, 'a, b'), (3, ''), (4, None)], [0, 2, 3])
>>> for number, why in sorted(found.lines.bad.items()):
...     print(number, why)
1 a quote is not closed
4 n is 'five', not a BIGINT
5 the line has 3 fields, not 2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from itertools import islice

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import polars_type
from sqlwin.runtime.formats.content import TEXT_TOO
from sqlwin.runtime.formats.lines import NO_TEXT, Lines, is_text
from sqlwin.runtime.formats.presented import text_of
from sqlwin.runtime.formats.records import Record, records, trimmed, well_quoted, written
from sqlwin.schema import Schema

CHARACTERS = 131_072
"""Of a text at most: what has more is no CSV, or has lost a quote."""
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


@dataclass(frozen=True)
class Header:
    """names: of the columns, in their order. end: where the first line behind it begins.

    plain: whether Polars would read the same names.
    """

    names: tuple[str, ...]
    end: int
    plain: bool


@dataclass(frozen=True)
class CsvLines:
    """lines: all rows of the records that begin at `start`."""

    lines: Lines
    data: bytes = field(repr=False)
    start: int
    delimiter: bytes

    def texts(self, numbers: Sequence[int]) -> list[str]:
        """Records as they came, line ends within them too."""
        wanted, found = set(numbers), {}
        last = max(wanted, default=-1)
        known = records(self.data, self.delimiter, self.start)
        for number, (record, _) in enumerate(islice(known, last + 1)):
            if number in wanted:
                found[number] = text_of(record.raw)
        return [found[number] for number in numbers]


def header_of(data: bytes, delimiter: str) -> Header:
    """Of the first line that is not blank. A file of nothing has no names."""
    for record, end in records(data, delimiter.encode(), 0):
        fields = record.raw.split(delimiter.encode()) if record.why else record.fields
        names = tuple((name or b"").decode(errors="backslashreplace") for name in fields)
        unlike = record.why or b'"' in record.raw or b"\r" in record.raw or not all(names)
        return Header(names, end, not unlike and len(set(names)) == len(names))
    return Header((), len(data), plain=False)


def headed(data: bytes, names: Sequence[str], delimiter: str) -> tuple[bytes, Header]:
    """Data without a header, with one: it is read as fast as any other."""
    fields = tuple(name.encode() for name in names)
    record = Record(b"" if all(map(str.isidentifier, names)) else b'"', fields)
    line = written(record, delimiter.encode(), len(names)) + b"\n"
    return line + data, Header(tuple(names), len(line), plain=True)


def decode(data: bytes, columns: Schema, header: Header, delimiter: str = ",") -> CsvLines:
    """The records behind the header. The data begin with no byte order mark."""
    data, cut = trimmed(data), delimiter.encode()
    wanted = [name for name in header.names if name in {column.name for column in columns}]
    lines = _at_once(data, wanted, columns, header, delimiter)
    if lines is None:
        lines = _one_by_one(data, wanted, columns, header, delimiter)
    return CsvLines(_short(lines), data, header.end, cut)


def _at_once(
    data: bytes, wanted: Sequence[str], columns: Schema, header: Header, delimiter: str
) -> Lines | None:
    """The fast way; None where the rule might say otherwise of any record."""
    if not wanted:
        return Lines.of(pl.DataFrame(), columns)
    if data.startswith(TEXT_TOO):  # Polars would uncompress it
        return None
    if not (header.plain and is_text(data) and _quotes_stand(data, delimiter)):
        return None
    frame = _read(data, wanted, columns, delimiter)
    if frame is None or _maybe_blank(frame, data):
        return None
    return Lines.of(frame, columns, blanks=True)


def _quotes_stand(data: bytes, delimiter: str) -> bool:
    return b'"' not in data or well_quoted(data, delimiter.encode())


def _maybe_blank(frame: pl.DataFrame, data: bytes) -> bool:
    """Whether a blank line may have been read as a row of NULLs."""
    if any(not frame[name].null_count() for name in frame.columns):
        return False
    return b"\n\n" in data or b"\n\r\n" in data


def _read(
    data: bytes, wanted: Sequence[str], columns: Schema, delimiter: str
) -> pl.DataFrame | None:
    """The wanted columns with their types where all values are of them, else as texts."""
    native = {column.name: _native(column.type) for column in columns if column.name in wanted}
    for schema in (native, dict.fromkeys(native, pl.String())):
        try:
            frame = pl.read_csv(  # all columns: where some are left out, lines may be too long
                data, schema_overrides=schema, separator=delimiter, infer_schema_length=0
            ).select(wanted)
        except FAILURES:
            continue
        if not any(frame[name].is_infinite().any() for name in wanted if schema[name].is_float()):
            return frame
    return None


def _native(type_: pa.DataType) -> pl.DataType:
    """What Polars reads a field as; texts become values afterwards."""
    native = pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_boolean(type_)
    return polars_type(type_) if native else pl.String()


def _one_by_one(
    data: bytes, wanted: Sequence[str], columns: Schema, header: Header, delimiter: str
) -> Lines:
    """By the rule; good records are written anew, each on a line with proper quotes, and read."""
    separator, most = delimiter.encode(), len(header.names)
    good, places = [separator.join(b"c%d" % at for at in range(most))], []
    bad: dict[int, str] = {}
    for number, (record, _) in enumerate(records(data, separator, header.end)):
        why = record.why or _why(record, most)
        if why:
            bad[number] = why
        else:
            good.append(written(record, separator, most))
            places.append(number)
    at = {name: f"c{header.names.index(name)}" for name in wanted}
    renamed = tuple(replace(each, name=at[each.name]) for each in columns if each.name in at)
    frame = _read(b"\n".join(good), list(at.values()), renamed, delimiter)
    assert frame is not None
    read = frame.select(pl.col(at[name]).alias(name) for name in wanted)
    lines = Lines.of(read, columns, np.array(places, dtype=np.int64), blanks=True)
    return replace(lines, bad=lines.bad | bad)


def _why(record: Record, most: int) -> str:
    if len(record.fields) > most:
        return f"the line has {len(record.fields)} fields, not {most}"
    return "" if is_text(record.raw) else f"the line is {NO_TEXT}"


def _short(lines: Lines) -> Lines:
    """Without rows that have a text of more than `CHARACTERS`."""
    for name, dtype in lines.rows.schema.items():
        values = lines.rows[name]
        if dtype != pl.String or (values.str.len_bytes().max() or 0) <= CHARACTERS:  # type: ignore[operator]
            continue
        long = values.str.len_chars().fill_null(0) > CHARACTERS
        at = long.arg_true().to_list()
        why = {
            int(lines.numbers[each]): f"{name} has {len(values[each]):,} characters, "
            f"more than {CHARACTERS:,}"
            for each in at
        }
        keep = ~long.to_numpy()
        lines = Lines(lines.rows.filter(~long), lines.numbers[keep], lines.bad | why)
    return lines
