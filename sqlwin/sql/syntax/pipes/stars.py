"""SET, DROP and RENAME as `*` with less, or other, columns.

    |> SET v = v + 1         * REPLACE (v + 1 AS `v`)
    |> DROP a, b             * EXCEPT (a, b)
    |> RENAME a AS b         * RENAME (a AS b)

What is taken from the text stands in its own place.
"""

from __future__ import annotations

from dataclasses import replace

from sqlwin.sql.syntax.pipes.flow import Flow
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import quoted


def assigned(flow: Flow, name: ast.Name, value: ast.Run) -> Flow:
    """value: of the rows as they were before."""
    lead, trail = "* REPLACE (", f" AS {quoted(name.text, name.span).text})"
    text, original = (f"{lead}{each}{trail}" for each in (value.text, value.original))
    more = (value.overs, value.functions, value.macros)
    star = ast.Led(text, original, value.span, *more, lead=len(lead), column=name)
    return _with(flow, star, (name,))


def without(flow: Flow, names: tuple[ast.Name, ...], text: str) -> Flow:
    """text: from the first of the names to the last."""
    return _with(flow, _star("* EXCEPT (", text, names[0]), names)


def renamed(flow: Flow, names: tuple[ast.Name, ...], text: str) -> Flow:
    """names: before and after."""
    return _with(flow, _star("* RENAME (", text, names[0]), names)


def _star(lead: str, text: str, first: ast.Name) -> ast.Run:
    whole = f"{lead}{text})"
    return ast.Led(whole, whole, first.span, lead=len(lead))


def _with(flow: Flow, star: ast.Run, names: tuple[ast.Name, ...]) -> Flow:
    flow = flow if flow.plain else flow.around(names[0].span)
    touched = frozenset(name.text.lower() for name in names)
    return replace(flow, select=replace(flow.select, items=(star,)), touched=touched)
