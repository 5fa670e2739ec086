"""Aggregates of the rows within a time of each row around them, as frames over the rows of both.

    SELECT a.*, (SELECT MAX(b.p) FROM b
                 WHERE b.k = a.k AND b.at BETWEEN a.ts - INTERVAL '1' HOUR AND a.ts) AS p FROM a

    SELECT a.* EXCEPT (…), p FROM (
      SELECT *, MAX(c1) FILTER (WHERE side = 1) OVER (PARTITION BY key1 ORDER BY ts
        RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS p
      FROM (SELECT *, a.k AS key1, 0 AS side FROM a
            UNION ALL BY NAME SELECT b.k AS key1, b.at AS ts, 1 AS side, b.p AS c1 FROM b)) a
    WHERE side = 0

So it is one operator, which corrects a row of `a` when a row of `b` comes late. Equal, for a frame
holds the rows of one key within those bounds, of which only those of `b` count; a key that is NULL
equals none, so rows of `b` that have one are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.syntax.subqueries.conditions import Parse
from sqlwin.sql.syntax.subqueries.correlated import names, names_outer
from sqlwin.sql.syntax.subqueries.frame_bounds import bounds_of
from sqlwin.sql.syntax.subqueries.lateral_inner import COMPARED, Inner, split
from sqlwin.sql.syntax.subqueries.of_nothing import split as aggregates
from sqlwin.sql.syntax.subqueries.scalar_groups import calls_aggregate, within_aggregate
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import conjuncts

LEGAL = "b.k = a.k AND b.ts BETWEEN a.ts - INTERVAL '1' HOUR AND a.ts, of both streams' event times"
_STAR = re.compile(r"((?:(?:`[^`]*`|[^\s.`]+)\s*\.\s*)?)\*\s*\Z")


@dataclass(frozen=True)
class Frame:
    """What a query in an expression becomes. name: of its columns. outer: the input that it is
    computed for, in lower case. event_time: the column of it that its own time is compared with.
    keys: what is equal, the own side first. bound: the first condition on its time. calls: its
    aggregates."""

    name: str
    select: ast.Select
    outer: str
    event_time: str
    own_time: ast.Run
    keys: tuple[tuple[ast.Run, ast.Run], ...]
    rest: ast.Run | None
    bound: ast.Run
    bounds: str
    calls: tuple[ast.Run, ...]

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(f"{self.name}_part{at}" for at in range(1, len(self.calls) + 1))

    @property
    def shares(self) -> tuple[str, ...]:
        """Frames of one input for which it is the same are those of one operator."""
        return (self.event_time, *(outer.text for _, outer in self.keys))

    def columns(self) -> dict[str, str]:
        """By its text, the name of each column that the aggregates name."""
        nodes = [node for call in self.calls for node in parsed(call).find_all(exp.Column)]
        texts = dict.fromkeys(_text(node) for node in nodes)
        return {text: f"{self.name}_column{at}" for at, text in enumerate(texts, 1)}

    def run(self, text: str) -> ast.Run:
        return ast.Made(text, text, self.select.span)


def framed(select: ast.Select, name: str, item: ast.Run) -> tuple[Frame, str] | None:
    """The frame of a query, and its value in the text; None where it names no time around it, as
    LEGAL has it. item: what it gives."""
    inner = Inner(select, name, frozenset(each.lower() for each in names(select.relation)))
    outer = [] if select.where is None else list(conjuncts(select.where))
    outer = [run for run in outer if names_outer(parsed(run), inner.own)]
    compared = all(isinstance(parsed(run), COMPARED) for run in outer)
    unequal = [run for run in outer if not isinstance(parsed(run), exp.EQ)]
    if not compared or not unequal:
        return None
    if select.group or select.having is not None or select.qualify is not None or select.limit:
        return None
    rest, found = split(inner)
    bounds = bounds_of(inner, [each for each in found if not each.equal])
    if bounds is None:
        return None
    own_time, around, event_time, frame = bounds
    pairs = (each.pieces for each in found if each.equal)
    keys = [(one, other) if inner.is_own(one) else (other, one) for one, other in pairs]
    keys.sort(key=lambda pair: pair[1].text)
    calls, text = aggregates(item, lambda at: f"`{around}`.{name}_part{at}")
    of_rows = (name, select, around, event_time, own_time, tuple(keys), rest)
    return Frame(*of_rows, unequal[0], frame, tuple(calls)), text


def over_frames(source: ast.From, frames: Sequence[Frame], parse: Parse) -> ast.From:
    """The first input of a query, with the values as further columns."""
    for frame in frames:
        _refuse_beside(source, frame)
    together: dict[tuple[str, ...], list[Frame]] = {}
    for frame in frames:
        together.setdefault(frame.shares, []).append(frame)
    for group in together.values():
        source = _Operator(tuple(group)).over(source, parse)
    return source


@dataclass(frozen=True)
class _Operator:
    """Frames over the rows of an input and of each of their queries, which `side` tells apart."""

    frames: tuple[Frame, ...]

    @property
    def first(self) -> Frame:
        return self.frames[0]

    @property
    def side(self) -> str:
        return f"{self.first.name}_side"

    @property
    def keys(self) -> list[str]:
        return [f"{self.first.name}_key{at}" for at in range(1, len(self.first.keys) + 1)]

    def over(self, source: ast.From, parse: Parse) -> ast.From:
        run = self.first.run
        columns = [name for frame in self.frames for name in frame.columns().values()]
        shown = run(f"* EXCEPT ({', '.join((*self.keys, self.side, *columns))})")
        below = ast.From(replace(self._values(parse), relation=self._rows(source)))
        made = ast.Select((shown,), below, self.first.select.span, where=run(f"{self.side} = 0"))
        name = source.alias or source.source
        assert isinstance(name, ast.Name)
        return replace(source, source=made, alias=name)

    def _values(self, parse: Parse) -> ast.Select:
        partition = f"PARTITION BY {', '.join(self.keys)} " if self.keys else ""
        order = f"{partition}ORDER BY `{self.first.event_time}`"
        calls = [
            f"{self._filtered(call, frame, side)} OVER ({order} RANGE BETWEEN {frame.bounds}) "
            f"AS {value}"
            for side, frame in enumerate(self.frames, 1)
            for call, value in zip(frame.calls, frame.values, strict=True)
        ]
        made = parse(self.first.run(f"SELECT *, {', '.join(calls)} FROM {self.side}"))
        return cast(ast.Select, _placed(made, self.first.select.span))

    def _filtered(self, run: ast.Run, frame: Frame, side: int) -> str:
        """A call, of the rows of its query alone."""
        call, columns = parsed(run).copy(), frame.columns()
        for node in list(call.find_all(exp.Column)):
            node.replace(exp.column(columns[_text(node)]))
        condition = f"{self.side} = {side}"
        if isinstance(call, exp.Filter):
            condition += f" AND ({_text(call.expression.this)})"
            call = call.this
        return f"{_text(call)} FILTER (WHERE {condition})"

    def _rows(self, source: ast.From) -> ast.From:
        first, span = self.first, self.first.select.span
        keys = zip(first.keys, self.keys, strict=True)
        items = ["*", *(f"{outer.text} AS {key}" for (_, outer), key in keys), f"0 AS {self.side}"]
        of_input = replace(source, joins=())
        parts = [ast.Select(tuple(map(first.run, items)), of_input, span)]
        for side, frame in enumerate(self.frames, 1):
            keys = zip(frame.keys, self.keys, strict=True)
            items = [f"{own.text} AS {key}" for (own, _), key in keys]
            items += [f"{frame.own_time.text} AS `{first.event_time}`", f"{side} AS {self.side}"]
            items += [f"{text} AS {name}" for text, name in frame.columns().items()]
            runs = tuple(map(frame.run, items))
            parts.append(replace(frame.select, items=runs, where=_where(frame), distinct=None))
        union = ast.Union(tuple(parts), span, matching=ast.Matching(ast.Name("BY NAME", span)))
        return ast.From(union, timed=(ast.Name(first.event_time, span), first.bound))


def _placed(node: Any, span: Span) -> Any:
    """All of it at that place, for it stands nowhere in the text."""
    if isinstance(node, Span):
        return span
    if isinstance(node, tuple):
        return tuple(_placed(each, span) for each in node)
    if isinstance(node, ast.Run):
        overs = _placed(node.overs, span)
        return ast.Made(node.text, node.original, span, overs, node.functions, node.macros)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    return replace(
        node, **{each.name: _placed(getattr(node, each.name), span) for each in fields(node)}
    )


def _where(frame: Frame) -> ast.Run | None:
    """That of the query, without rows whose key equals none."""
    own = [] if frame.rest is None else [f"({frame.rest.text})"]
    text = " AND ".join((*own, *(f"({run.text}) IS NOT NULL" for run, _ in frame.keys)))
    if not text:
        return None
    return frame.run(text) if frame.rest is None else replace(frame.rest, text=text)


def refuse_groups(
    select: ast.Select, runs: Sequence[ast.Run | None], frames: Sequence[Frame]
) -> None:
    """QueryError where a query groups, and a value stands outside of its aggregates. runs: its
    items and HAVING, with the values."""
    given = [(run, parsed(run)) for run in runs if run is not None]
    if not frames or not (select.group or any(calls_aggregate(tree, run) for run, tree in given)):
        return
    values = {value for frame in frames for value in frame.values}
    for run, tree in given:
        nodes = [node for node in tree.find_all(exp.Column) if node.name in values]
        if not all(within_aggregate(node, run) for node in nodes):
            message = (
                "a query in an expression that names a time of the rows around it is of each row"
            )
            legal = "the query within an aggregate, MAX((SELECT …))"
            raise QueryError(f"{message}, and here rows are grouped", run.span, legal=legal)


def without_values(items: Sequence[ast.Run], frames: Sequence[Frame]) -> tuple[ast.Run, ...]:
    """`*` has no values of queries."""
    made = []
    for item in items:
        star = _STAR.match(item.text.strip())
        of = "" if star is None else star[1].rstrip(" .").strip("`").lower()
        hidden = [value for frame in frames if of in ("", frame.outer) for value in frame.values]
        if star is not None and hidden:
            item = replace(item, text=f"{item.text.strip()} EXCEPT ({', '.join(hidden)})")
        made.append(item)
    return tuple(made)


def _refuse_beside(source: ast.From, frame: Frame) -> None:
    """QueryError where the rows that it is computed for are not those of the first input."""
    plain = source.as_of is None and not source.unnests and source.match is None
    name = source.alias or source.source
    if plain and isinstance(name, ast.Name) and name.text.lower() == frame.outer:
        return
    message = "a query in an expression that names a time of the rows around it names the first"
    raise QueryError(f"{message} input alone", frame.select.span, legal=LEGAL)


def _text(tree: Expr) -> str:
    return tree.sql(SqlwinSpark)
