"""Tables and plans as HTML, for notebooks: escaped, bounded, with its style in the elements.

>>> cells = table(["op", "product"], [("+U", "<tea>")], 1)
>>> "&lt;tea&gt;" in cells, "<tea>" in cells
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape

MOST_ROWS = 20
"""Rows of a table that are shown."""
MOST_LETTERS = 200
"""Characters of a value that are shown."""
COLOURS = {
    ("op", "+I"): "#1a7f37",
    ("op", "+U"): "#0969da",
    ("op", "-U"): "#9a6700",
    ("op", "-D"): "#cf222e",
    ("emit", "early"): "#9a6700",
    ("emit", "full"): "#1a7f37",
    ("emit", "late"): "#0969da",
}
"""Of what a change is, by column and value; readable on white and on black."""
_LINE = "font-family:monospace;white-space:pre-wrap"


def table(names: Sequence[str], rows: Iterable[Sequence[object]], of: int) -> str:
    """rows: those to show; of: how many there are."""
    shown = list(rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(map(_cell, names, row))}</tr>" for row in shown)
    count = f"{of:,} row{'' if of == 1 else 's'}"
    if len(shown) < of:
        count = f"{len(shown):,} of {count}"
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><small>{count}</small>"
    )


def plan(text: str) -> str:
    """EXPLAIN: the words before a colon stand out, and warnings are coloured."""
    return f'<div style="{_LINE}">{"<br>".join(map(_plan_line, text.split(chr(10))))}</div>'


def details(title: str, inside: str) -> str:
    """Something that is opened by a click."""
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"


def _plan_line(text: str) -> str:
    word, colon, rest = text.partition(": ")
    if not colon or word.startswith(" "):
        return escape(text).replace("  ", "&nbsp;&nbsp;")
    colour = ' style="color:#9a6700"' if word == "Warning" else ""
    return f"<b{colour}>{escape(word)}:</b> {escape(rest)}"


def _cell(name: str, value: object) -> str:
    if value is None:
        return '<td style="opacity:.5;font-style:italic">NULL</td>'
    colour = COLOURS.get((name, str(value)))
    style = f"color:{colour};font-weight:bold" if colour else _aligned(value)
    return f'<td style="{style}">{escape(_text(value))}</td>'


def _aligned(value: object) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"text-align:{'right' if number else 'left'}"


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat(" ").replace("+00:00", "Z")
    text = str(value)
    return text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + "…"
