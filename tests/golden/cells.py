"""Tables in a golden: columns between bars, a cell a value.

NULL is `NULL`, an instant ISO 8601 with a Z. A string stands bare, or in JSON
quotes where bare it would be read as something else: the word NULL, an empty
string, blanks at an end, a bar.

>>> cell(None), cell("NULL"), cell(True), cell(0.1), cell("a|b")
('NULL', '"NULL"', 'true', '0.1', '"a\\\\u007cb"')
>>> read(['k  | n', 'a  | 1', '"" | NULL'])
Table(columns=('k', 'n'), rows=(('a', '1'), ('""', 'NULL')), floats=frozenset())
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from sqlwin.instants import format_instant, from_datetime

RELATIVE = 1e-9


@dataclass(frozen=True)
class Table:
    """Cells as text. floats: the columns that are compared within 1e-9."""

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
    floats = (field.name for field in table.schema if pa.types.is_floating(field.type))
    rows = tuple(tuple(map(cell, row.values())) for row in table.to_pylist())
    return Table(tuple(table.column_names), rows, frozenset(floats))


def cell(value: Any) -> str:
    """A value as it is written."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return format_instant(from_datetime(value))
    if isinstance(value, float):
        return repr(value).replace("nan", "NaN").replace("inf", "Infinity")
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, int | date):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    return value if _bare(value) else json.dumps(value, ensure_ascii=False).replace("|", "\\u007c")


def _bare(text: str) -> bool:
    tricky = "|" in text or "\n" in text or text.startswith(('"', "---"))
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


def difference(expected: Table, found: Table) -> str:
    """What differs, as two tables under each other; empty where nothing does. Order is none."""
    if not expected.rows and not found.rows:
        return ""
    if expected.columns == found.columns and _equal(expected, found):
        return ""
    return "\n".join(["expected:", *_shown(expected), "found:", *_shown(found)])


def _shown(table: Table) -> list[str]:
    return write(in_order(table)) or ["  (nothing)"]


def _equal(expected: Table, found: Table) -> bool:
    ours = in_order(Table(expected.columns, expected.rows, found.floats)).rows
    theirs = in_order(found).rows
    if len(ours) != len(theirs):
        return False
    close = [column in found.floats for column in found.columns]
    return all(
        _close(a, b) if near else a == b
        for left, right in zip(ours, theirs, strict=True)
        for near, a, b in zip(close, left, right, strict=True)
    )


def _close(a: str, b: str) -> bool:
    if "NULL" in (a, b) or "NaN" in (a, b):
        return a == b
    return math.isclose(float(a), float(b), rel_tol=RELATIVE)


def in_order(table: Table) -> Table:
    """Rows sorted, floats by their first digits, so that close ones meet."""
    close = [column in table.floats for column in table.columns]

    def key(row: tuple[str, ...]) -> list[str]:
        return [_rounded(c) if near else c for near, c in zip(close, row, strict=True)]

    return Table(table.columns, tuple(sorted(table.rows, key=key)), table.floats)


def _rounded(cell: str) -> str:
    return cell if cell == "NULL" else f"{float(cell):.6g}"
