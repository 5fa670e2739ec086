"""Tables in a golden: columns between bars, a cell a value.

NULL is `NULL`, an instant ISO 8601 with a Z. A string stands bare, or in JSON
quotes where bare it would be read as something else: the word NULL, an empty
string, blanks at an end, a bar, the end of a line. A list stands in brackets, its elements as
cells; a struct and a map in braces, a name or a key before each.

>>> cell(None), cell("NULL"), cell(True), cell(0.1), cell("a|b")
('NULL', '"NULL"', 'true', '0.1', '"a\\\\u007cb"')
>>> cell([1, None]), cell(["a", "b, c"]), cell([])
('[1, NULL]', '[a, "b, c"]', '[]')
>>> cell({"a": 1, "b": ["x"]}), cell([("tea", 2.5)])
('{a: 1, b: [x]}', '{tea: 2.5}')
>>> read(['k  | n', 'a  | 1', '"" | NULL'])
Table(columns=('k', 'n'), rows=(('a', '1'), ('""', 'NULL')), floats=frozenset())
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from sqlwin.instants import format_datetime
from sqlwin.lazy_dataclass import dataclass

ENDS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
"""What ends a line, to somebody."""


@dataclass(frozen=True)
class Table:
    """Cells as text. floats: the columns, also of lists, that are compared within 1e-9."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    floats: frozenset[str] = frozenset()

    def only(self, columns: Iterable[str]) -> Table:
        """These columns, in this order."""
        at = [self.columns.index(column) for column in columns]
        names = tuple(self.columns[i] for i in at)
        return Table(names, tuple(tuple(row[i] for i in at) for row in self.rows), self.floats)


NOTHING = Table()


def of_arrow(table: pa.Table) -> Table:
    floats = (field.name for field in table.schema if _is_float(field.type))
    maps = {field.name for field in table.schema if pa.types.is_map(field.type)}
    rows = tuple(
        tuple(
            _in(name, {} if value == [] and name in maps else value) for name, value in row.items()
        )
        for row in table.to_pylist()
    )
    return Table(tuple(table.column_names), rows, frozenset(floats))


def _is_float(type_: pa.DataType) -> bool:
    return bool(pa.types.is_floating(type_.value_type if pa.types.is_list(type_) else type_))


def _in(column: str, value: Any) -> str:
    """A row_key begins with a bracket and is no list."""
    bare = column == "row_key" and isinstance(value, str) and "|" not in value
    return value if bare else cell(value)


def cell(value: Any) -> str:
    """A value as it is written."""
    if isinstance(value, dict | list):
        return _nested(value)
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return format_datetime(value)
    if isinstance(value, float):
        return repr(value).replace("nan", "NaN").replace("inf", "Infinity")
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, int | date):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    return value if _bare(value) else _quoted(value)


def _nested(value: dict[str, Any] | list[Any]) -> str:
    """A list of pairs is a map, to Arrow."""
    if isinstance(value, list) and not (value and isinstance(value[0], tuple)):
        return "[" + ", ".join(_element(each, ",[]") for each in value) + "]"
    pairs = value.items() if isinstance(value, dict) else value
    named = (f"{_element(key, ',[]{}:')}: {_element(each, ',[]{}:')}" for key, each in pairs)
    return "{" + ", ".join(named) + "}"


def _element(value: Any, signs: str) -> str:
    """signs: of what is around it."""
    bare = not isinstance(value, str) or not set(value) & set(signs)
    return cell(value) if bare else _quoted(value)


def _quoted(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False).replace("|", "\\u007c")
    return "".join(f"\\u{ord(sign):04x}" if sign in ENDS else sign for sign in escaped)


def _bare(text: str) -> bool:
    tricky = "|" in text or set(text) & ENDS or text.startswith(('"', "---", "["))
    return text.strip() == text and text not in ("", "NULL") and not tricky


def text_of(cell: str) -> str | None:
    """What a feed's cell gives to the stream: text, or None for NULL."""
    if cell.startswith('"'):
        text: str = json.loads(cell)
        return text
    return None if cell == "NULL" else cell


def read(lines: Sequence[str]) -> Table:
    """A table of lines; no lines are a table without columns and rows."""
    cells = [tuple(part.strip() for part in line.split("|")) for line in lines if line.strip()]
    if not cells:
        return Table()
    header, *rows = cells
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"{len(row)} cells under {len(header)} columns: {' | '.join(row)}")
    return Table(header, tuple(rows))


def write(table: Table) -> list[str]:
    """Lines with the bars below each other; none where there are no rows."""
    if not table.rows:
        return []
    lines = [table.columns, *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.columns))]
    return [
        " | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
