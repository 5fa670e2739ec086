"""JSON lines: one object a line, decoded by one rule, most lines at once.

The rule is `by_rule`: a line is one object of RFC 8259 in UTF-8, nested `DEEPEST` levels
at most; the last of equal names counts, null and a missing name are NULL; a string is its
text, any other value its source text, which `texts` then reads as the column's
type. So `1.50` in a STRING column is `1.50`, and a DECIMAL has every digit.

The fast way is Arrow's parser, which fails where a value is not exactly of its
column's type. It is right where each line begins with `{` and ends with `}`, and
there are as many objects as lines: no line end can then lie within an object,
since `}` is never followed by `{` in one. Where it fails, blocks of lines are
tried; of a block that fails each line goes by the rule.

>>> from sqlwin.schema import Column
>>> columns = (Column("n", pa.int64()), Column("s", pa.string()))
>>> found = decode(b'{"n": 1, "s": "a"}\\n{"n": 2.0, "s": 1.50}\\n[3]\\n{"n": 4}\\n', columns).lines
>>> found.rows.rows(), found.numbers.tolist(), found.bad
([(1, 'a'), (2, '1.50'), (4, None)], [0, 1, 3], {2: 'the line is no JSON object'})
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import json as arrow_json

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.formats.json_rule import by_rule
from sqlwin.runtime.formats.lines import BOM, Lines, Numbers, is_text, joined
from sqlwin.runtime.formats.nested import DEEPEST
from sqlwin.runtime.formats.presented import text_of
from sqlwin.schema import Schema

BLOCK = 4096
"""Lines that are tried at once where not all of them can be."""
ARROW_BLOCK = 8 << 20
"""Bytes; a longer line goes by the rule."""
CACHED = 1 << 18
BEFORE = 20
"""Bytes before a word that are looked at: more white space than that, and the rule decides."""
NEWLINE, RETURN, OPEN, CLOSE = b"\n\r{}"


@dataclass(frozen=True)
class JsonLines:
    """lines: all rows. fits: whether a line has a declared column, or there is none."""

    lines: Lines
    data: bytes
    spans: Spans
    fits: bool

    def texts(self, numbers: Sequence[int]) -> list[str]:
        return [text_of(line) for line in self.spans.cut(self.data, numbers)]


@dataclass(frozen=True)
class Spans:
    """Where lines that are not blank begin and end, without line ends."""

    starts: Numbers
    ends: Numbers

    @staticmethod
    def of(data: bytes) -> Spans:
        letters = np.frombuffer(data, np.uint8)
        parts = range(0, len(data), CACHED)  # what is compared stays in the cache
        found = [np.flatnonzero(letters[at : at + CACHED] == NEWLINE) + at for at in parts]
        ends = np.concatenate([np.empty(0, np.int64), *found])
        starts = np.concatenate([[0], ends + 1])
        ends = np.concatenate([ends, [len(data)]])
        has = starts < ends
        starts, ends = starts[has], ends[has]
        ends = ends - (letters[ends - 1] == RETURN)
        return Spans(starts, ends)

    def cut(self, data: bytes, at: Sequence[int]) -> list[bytes]:
        return [data[self.starts[i] : self.ends[i]] for i in at]

    def only(self, where: Any) -> Spans:
        return Spans(self.starts[where], self.ends[where])

    def __len__(self) -> int:
        return len(self.starts)


def decode(data: bytes, columns: Schema) -> JsonLines:
    data = data.removeprefix(BOM)
    spans = Spans.of(data)
    plain, blank = _plain(data, spans)
    if blank.any():
        spans, plain = spans.only(~blank), plain[~blank]
    lines = _decoded(data, spans, plain, columns)
    return JsonLines(lines, data, spans, _fits(data, spans, lines, columns))


def _plain(data: bytes, spans: Spans) -> tuple[Any, Any]:
    """Which lines the fast way may try, and which are blank."""
    letters = np.frombuffer(data, np.uint8)
    plain = spans.ends - spans.starts >= 2
    first, last = letters[spans.starts], letters[np.maximum(spans.ends - 1, 0)]
    plain &= (first == OPEN) & (last == CLOSE)
    blank = np.zeros(len(spans), bool)
    for at in np.flatnonzero(~plain):
        blank[at] = not data[spans.starts[at] : spans.ends[at]].strip()
    for at in np.flatnonzero(plain & (spans.ends - spans.starts > 2 * DEEPEST)):
        line = data[spans.starts[at] : spans.ends[at]]
        plain[at] = line.count(b"{") + line.count(b"[") <= DEEPEST
    if not is_text(data):
        for at in np.flatnonzero(plain):
            plain[at] = is_text(data[spans.starts[at] : spans.ends[at]])
    return plain, blank


def _decoded(data: bytes, spans: Spans, plain: Any, columns: Schema) -> Lines:
    numbers = np.arange(len(spans), dtype=np.int64)
    if plain.all():
        fast = _fast(data, len(spans), columns)
        if fast is not None:
            return Lines.of(fast, columns, numbers)
    parts = [
        _block(data, spans.only(block), plain[block], numbers[block], columns)
        for block in (slice(at, at + BLOCK) for at in range(0, len(spans), BLOCK))
    ]
    return joined(parts, columns)


def _block(data: bytes, spans: Spans, plain: Any, numbers: Numbers, columns: Schema) -> Lines:
    lines = spans.cut(data, range(len(spans)))
    if plain.all():
        fast = _fast(b"\n".join(lines), len(lines), columns)
        if fast is not None:
            return Lines.of(fast, columns, numbers)
    return by_rule(lines, numbers, columns)


# --- the fast way -----------------------------------------------------------


def _fast(data: bytes, count: int, columns: Schema) -> pl.DataFrame | None:
    """All at once; None where the rule might say otherwise of any line."""
    if not count:
        return None
    table = _table(data, columns, "error")  # which ends it at the first name that is not declared
    if table is None and not _has_no_number(data):
        table = _table(data, columns, "ignore")
    if table is None or table.num_rows != count:
        return None
    frame = pl.DataFrame({each.name: pl.Series(values=table[each.name]) for each in columns})
    return frame if all(_in_range(frame[each.name], each.type) for each in columns) else None


def _table(data: bytes, columns: Schema, undeclared: str) -> pa.Table | None:
    parsing = arrow_json.ParseOptions(
        explicit_schema=pa.schema([(each.name, _arrow(each.type)) for each in columns]),
        unexpected_field_behavior=undeclared,
    )
    reading = arrow_json.ReadOptions(block_size=ARROW_BLOCK)
    try:
        return arrow_json.read_json(pa.BufferReader(data), reading, parsing)
    except (pa.ArrowException, ValueError):
        return None


def _has_no_number(data: bytes) -> bool:
    """Whether NaN or Infinity may stand for a value, which Arrow takes and JSON has no word for.

    In a declared column they are found as values; this is for those that are not declared.
    """
    for word in (b"NaN", b"Inf"):
        at = data.find(word)
        while at >= 0:
            before = data[max(0, at - BEFORE) : at].rstrip(b" \t\r\n-")
            if before[-1:] in (b"", b":", b",", b"["):
                return True
            at = data.find(word, at + 1)
    return False


def _arrow(type_: pa.DataType) -> pa.DataType:
    """What Arrow reads; of dates, instants and bytes the texts, which are read as any other."""
    own = pa.types.is_primitive(type_) and not pa.types.is_temporal(type_)
    return type_ if own or pa.types.is_decimal(type_) else pa.string()


def _in_range(values: pl.Series, type_: pa.DataType) -> bool:
    """Arrow takes NaN, a number beyond a FLOAT as infinite, and one digit too many of a DECIMAL."""
    if values.dtype.is_float():
        return bool(values.is_finite().all())
    if not pa.types.is_decimal(type_) or values.null_count() == len(values):
        return True
    limit = Decimal(10) ** (type_.precision - type_.scale)
    return bool(values.is_between(-limit, limit, closed="none").all())


# --- the rule ---------------------------------------------------------------


def _fits(data: bytes, spans: Spans, lines: Lines, columns: Schema) -> bool:
    """Whether any good line has a declared column; where none has a value the names are read."""
    if lines.rows.is_empty() or any(lines.rows[each.name].count() for each in columns):
        return True
    declared = {column.name for column in columns}
    texts = spans.cut(data, lines.numbers.tolist())
    return any(declared & msgspec.json.decode(text).keys() for text in texts)
