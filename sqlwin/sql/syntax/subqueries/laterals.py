"""LATERAL with a query, whose WHERE names the rows before it, as a join.

    FROM a, LATERAL (SELECT v FROM b WHERE b.k = a.k) t
    FROM a JOIN (SELECT v, b.k AS lateral_1 FROM b) t ON t.lateral_1 = a.k

Of its rows for one row of `a` are counted, grouped and ranked those that have one key, so what the
WHERE sets equal to `a` is a key of GROUP BY and of each OVER, that of ORDER BY with LIMIT too:

    FROM a, LATERAL (SELECT v FROM b WHERE b.k = a.k ORDER BY v LIMIT 3) t
    FROM a JOIN (SELECT v, b.k AS lateral_1 FROM b
                 QUALIFY ROW_NUMBER() OVER (PARTITION BY b.k ORDER BY v) <= 3) t ON …

Any other comparison with `a` is one of the join, and so stands beside none of these; but the one
row that is nearest is an ASOF JOIN:

    FROM a, LATERAL (SELECT v FROM b WHERE b.k = a.k AND b.ts <= a.ts ORDER BY b.ts DESC LIMIT 1) t
    FROM a ASOF JOIN (SELECT v, b.k AS lateral_1, b.ts AS lateral_2 FROM b) t
      MATCH_CONDITION (a.ts >= t.lateral_2) ON t.lateral_1 = a.k

As in expressions, a name is of the rows before only behind a qualifier that is no input of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.syntax.subqueries.correlated import names, names_outer
from sqlwin.sql.syntax.subqueries.lateral_groups import counts, keyed, keys_of, one_row, whole
from sqlwin.sql.syntax.subqueries.lateral_inner import LEGAL, Condition, Inner, split
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import ALIAS, part

_BEFORE, _BEHIND = ("<", "<="), (">", ">=")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ONE = re.compile(r"ROW_NUMBER\(\) OVER . <= 1\Z")


def lateral(
    word: ast.Name, select: ast.Select, alias: tuple[ast.Name, ...], on: ast.Run | None
) -> ast.Join:
    """word: all before the bracket, in capitals. on: of the text."""
    name = alias[0].text if alias else f"lateral_{word.span.line}_{word.span.column}"
    inner = Inner(select, name, frozenset(each.lower() for each in names(select.relation)))
    rest, found = split(inner)
    _refuse_others(inner)
    kind = "LEFT JOIN" if word.text.startswith("LEFT") else "JOIN"
    nearest = _nearest(inner, found)
    made = replace(select, where=rest)
    match = None
    computed: tuple[tuple[str, ast.Run], ...] = ()
    if one_row(select):
        made, computed = whole(inner, keys_of(inner, found), alias, on)
        made, kind, on = replace(made, where=rest), "LEFT JOIN", None
    elif nearest is not None:
        own, sign, other = nearest
        text = f"{other.text} {_MIRRORED[sign]} {inner.exposed(own)}"
        match = replace(other, text=text, original=text)
        made = replace(made, qualify=None)
        kind = kind.replace("JOIN", "ASOF JOIN")
        found = [each for each in found if each.equal]
    elif counts(select):
        made = keyed(made, keys_of(inner, found))
    conditions = [inner.text(each) for each in found]
    conditions += [] if on is None else [f"({on.text})"]
    hidden = tuple(_as(run, called) for called, run in inner.hidden.items())
    shown = _shown(inner, alias)
    columns = (*alias[1:], *(ast.Name(n, word.span) for n in inner.hidden)) if alias[1:] else ()
    made = replace(made, items=(*made.items, *hidden), called=columns or made.called)
    text = " AND ".join(conditions) or "TRUE"
    return ast.Join(
        ast.Name(kind, word.span),
        ast.From(made, alias=ast.Name(name, word.span)),
        on=ast.Run(text, text, word.span),
        match=match,
        listed=shown if inner.hidden else (),
        computed=computed,
    )


def _nearest(inner: Inner, found: list[Condition]) -> tuple[ast.Run, str, ast.Run] | None:
    """Of the one row next to the rows before: its time, the sign of the comparison, their time."""
    select = inner.select
    other = [each for each in found if not each.equal]
    if len(other) != 1 or other[0].words[0] not in _MIRRORED or select.qualify is None:
        return None
    beside = select.group or any(run.overs for run in select.items)
    spec = select.qualify.overs[0] if select.qualify.overs else None
    if beside or not isinstance(spec, ast.Spec) or _ONE.match(select.qualify.text) is None:
        return None
    one, two = other[0].pieces
    sign = other[0].words[0]
    own, sign, before = (one, sign, two) if inner.is_own(one) else (two, _MIRRORED[sign], one)
    key = parsed(spec.order[0], exp.Ordered) if len(spec.order) == 1 else None
    down = sign in _BEFORE
    if spec.partition or key is None or inner.bare(key.this) != inner.bare(parsed(own)):
        return None
    return (own, sign, before) if bool(key.args.get("desc")) == down else None


def _refuse_others(inner: Inner) -> None:
    select = inner.select
    runs = [*select.items, *select.group, *([select.having] if select.having else [])]
    specs = [over for run in _ranked(select) for over in run.overs if isinstance(over, ast.Spec)]
    keys = [parsed(run, exp.Ordered) for spec in specs for run in spec.order]
    trees: list[Expr] = [*map(parsed, runs), *keys]
    if any(names_outer(tree, inner.own) for tree in trees):
        message = "a query behind LATERAL names the rows before it in its WHERE alone"
        raise QueryError(message, select.span, legal=LEGAL)


def _ranked(select: ast.Select) -> Iterator[ast.Run]:
    yield from select.items
    if select.qualify is not None:
        yield select.qualify


# --- its columns ---------------------------------------------------------------------------


def _shown(inner: Inner, alias: tuple[ast.Name, ...]) -> tuple[str, ...]:
    given = [name.text for name in alias[1:]]
    own = given or [parsed(item).alias_or_name for item in inner.select.items]
    if not inner.hidden or all(own):
        return tuple(f"`{name}`" for name in own)
    unnamed = next(i for i, name in zip(inner.select.items, own, strict=True) if not name)
    message = "a column of a query behind LATERAL needs a name here"
    raise QueryError(message, unnamed.span, legal=f"{unnamed.original} AS total")


def _as(run: ast.Run, name: str) -> ast.Run:
    value = run
    if isinstance(parsed(run), exp.Alias):
        end = ALIAS.search(run.text)
        assert end is not None
        value = part(run, 0, end.start())
    return replace(value, text=f"{value.text} AS `{name}`")
