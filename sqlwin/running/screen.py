"""Results on stdout, as a table, JSON or CSV."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from shutil import get_terminal_size
from typing import TextIO

import polars as pl

from sqlwin.polars_frames import iso_columns
from sqlwin.runtime.rows.render import cell, csv_text, json_lines

Show = Callable[[pl.DataFrame], None]
NULL = "NULL"
NARROWEST = 8
"""Characters that a column keeps, however narrow the terminal is."""
PLACES = 4
"""Of a fraction, where a terminal is too narrow for all of them."""


def screen(output: str, out: TextIO) -> Show:
    """A function that writes batches of results as `table`, `json` or `csv`; a table on a terminal
    is no wider than that."""
    if output == "table":
        return _Table(out, get_terminal_size().columns if out.isatty() else None)
    return _Json(out) if output == "json" else _Csv(out)


class _Json:
    def __init__(self, out: TextIO) -> None:
        self.out = out

    def __call__(self, rows: pl.DataFrame) -> None:
        self.out.writelines(line + "\n" for line in json_lines(rows))
        self.out.flush()


class _Csv:
    """A header whenever the columns are not those above, as where another query has its turn."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.above: list[str] | None = None

    def __call__(self, rows: pl.DataFrame) -> None:
        self.out.write(csv_text(rows, header=rows.columns != self.above))
        self.out.flush()
        self.above = rows.columns


class _Table:
    """Aligned columns; widths follow the first batch and grow where they must.

    Queries with other columns have widths of their own, and a header at each of their turns. On a
    terminal fractions stand by their points. Where it is narrower than the columns, fractions have
    fewer digits, and then the widest columns are cut, which an ellipsis says.
    """

    def __init__(self, out: TextIO, terminal: int | None = None) -> None:
        self.out, self.terminal = out, terminal
        self.above: list[str] | None = None
        self.widths: dict[tuple[str, ...], list[int]] = {}
        self.behind: dict[tuple[object, ...], int] = {}

    def __call__(self, rows: pl.DataFrame) -> None:
        shown = rows.drop("row_key", strict=False)
        numeric = [dtype.is_numeric() for dtype in shown.dtypes]
        instants = [isinstance(dtype, pl.Datetime) for dtype in shown.dtypes]
        cells, widths = self._cells(shown)
        if shown.columns != self.above:
            self.out.write("" if self.above is None else "\n")
            self.out.write(_line(map(_cut, shown.columns, widths), widths, numeric))
        for line in cells:
            self.out.write(_line(map(_cut, line, widths, instants), widths, numeric))
        self.out.flush()
        self.above = shown.columns

    def _cells(self, shown: pl.DataFrame) -> tuple[list[list[str]], list[int]]:
        iso = iso_columns(shown)
        cells, widths = self._written(iso, _cell)
        if self.terminal is None or fitted(widths, self.terminal) == widths:
            return cells, widths
        cells, widths = self._written(iso, _short)
        return cells, fitted(widths, self.terminal)

    def _written(
        self, iso: pl.DataFrame, text: Callable[[object], str]
    ) -> tuple[list[list[str]], list[int]]:
        cells = [[text(value) for value in row] for row in iso.iter_rows()]
        if self.terminal is not None:
            for at, dtype in enumerate(iso.dtypes):
                if dtype.is_float():
                    self._pointed(cells, at, (text, at, *iso.columns))
        return cells, self._widths((text.__name__, *iso.columns), iso.columns, cells)

    def _pointed(self, cells: list[list[str]], at: int, column: tuple[object, ...]) -> None:
        """Points below each other, those of further batches as well unless they need more room."""
        wide = max([self.behind.get(column, 0), *(_behind(line[at]) for line in cells)])
        self.behind[column] = wide
        for line in cells:
            line[at] += " " * (wide - _behind(line[at]) if "." in line[at] else 0)

    def _widths(
        self, table: tuple[str, ...], header: list[str], cells: list[list[str]]
    ) -> list[int]:
        known = self.widths.get(table, [len(name) for name in header])
        wider = [max([w, *(len(line[i]) for line in cells)]) for i, w in enumerate(known)]
        self.widths[table] = wider
        return wider


def fitted(widths: list[int], terminal: int | None) -> list[int]:
    """Widths that fit side by side, two blanks between them, the widest made narrower.

    >>> fitted([5, 40, 30], 60), fitted([5, 9], None), fitted([9, 9], 3)
    ([5, 25, 26], [5, 9], [8, 8])
    """
    if terminal is None:
        return widths
    room = terminal - 2 * (len(widths) - 1)

    def total(most: int) -> int:
        return sum(min(width, most) for width in widths)

    most = bisect_right(range(max(widths)), room, NARROWEST + 1, key=total) - 1
    left, fit = room - total(most), list[int]()
    for width in reversed(widths):
        wider = width > most and left > 0
        fit.append(min(width, most) + wider)
        left -= wider
    return fit[::-1]


def _cell(value: object) -> str:
    return NULL if value is None else cell(value)


def _short(value: object) -> str:
    """A fraction with four places, or with four digits where these are zeros; else as it is.

    >>> _short(-1.1428571428571428), _short(0.0000123456), _short(1234567.0), _short(7)
    ('-1.1429', '1.235e-05', '1234567.0', '7')
    """
    if not isinstance(value, float):
        return _cell(value)
    rounded = round(value, PLACES)
    return _cell(rounded if rounded or not value else float(f"{value:.{PLACES}g}"))


def _behind(number: str) -> int:
    return len(number) - number.find(".") if "." in number else 0


def _line(line: Iterable[str], widths: list[int], numeric: list[bool]) -> str:
    padded = (
        text.rjust(width) if right else text.ljust(width)
        for text, width, right in zip(line, widths, numeric, strict=True)
    )
    return "  ".join(padded).rstrip() + "\n"


def _cut(text: str, width: int, end: bool = False) -> str:
    """end: whether its end stays, as an instant's, whose beginning is that of all others."""
    if len(text) <= width:
        return text
    return f"…{text[1 - width :]}" if end else f"{text[: width - 1]}…"
