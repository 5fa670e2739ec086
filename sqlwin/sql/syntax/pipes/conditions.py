"""Several conditions of one text as one, joined by AND, each where it stands.

    |> WHERE a OR b |> WHERE c        (a OR b)   AND   c

What is between them in the text has room for what joins them: it begins a pipe operator and ends
with WHERE. So a mistake in any of them is shown at its place.

>>> from sqlwin.errors import Span
>>> source = "FROM s |> WHERE a OR b |> WHERE c"
>>> one, other = (("a OR b", 17), ("c", 33))
>>> runs = [ast.Run(text, text, Span(1, at)) for text, at in (one, other)]
>>> both = conjoined(runs, source)
>>> both.text, both.at(17, 18)
('(a OR b )  AND   c', Span(line=1, column=33, length=1))
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlwin.errors import Span
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import either
from sqlwin.sql.text.prepared import offset

_WHERE = re.compile(r"WHERE(\s*)\Z", re.IGNORECASE)


def conjoined(wheres: Sequence[ast.Run], source: str) -> ast.Run:
    """wheres: with no OVER among them."""
    first = wheres[0]
    if len(wheres) == 1:
        return first
    text, original, opened = "", "", False
    end = offset(source, first.span)
    for at, run in enumerate(wheres):
        start = offset(source, run.span)
        if at:
            between = _between(source[end:start], opened, either(run.text))
            text, original = text + between, original + between
        opened = either(run.text)
        text, original = text + run.text, original + run.original
        end = start + len(run.original)
    leads, trails = "(" * either(first.text), ")" * opened
    made = (f"{leads}{each}{trails}" for each in (text, original))
    span = Span(first.span.line, first.span.column - len(leads), first.span.length)
    columns = tuple(dict(column for run in wheres for column in run.made).items())
    return replace(first, text=next(made), original=next(made), span=span, made=columns)


def _between(gap: str, closes: bool, opens: bool) -> str:
    """AND in the place of WHERE, in as many characters. closes, opens: a bracket."""
    made = [char if char == "\n" else " " for char in gap]
    if closes:
        made[gap.index("|")] = ")"
    where = _WHERE.search(gap)
    assert where is not None
    made[where.start() : where.start() + len("AND")] = "AND"
    if opens:
        blanks = [at for at in range(where.start() + len("AND"), len(gap)) if made[at] == " "]
        made[blanks[-1]] = "("
    return "".join(made)
