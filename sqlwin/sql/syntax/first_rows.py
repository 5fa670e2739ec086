"""ORDER BY with LIMIT, and DISTINCT ON: as ranks that QUALIFY bounds.

    SELECT id FROM a ORDER BY v DESC LIMIT 3
    SELECT id FROM a QUALIFY ROW_NUMBER() OVER (ORDER BY v DESC) <= 3

    SELECT DISTINCT ON (k) id FROM a ORDER BY k, v DESC
    SELECT id FROM a QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) = 1

FETCH … WITH TIES is a RANK. A key that is a name of the select list, or a number, is that item.
What comes before ORDER BY in SQL, such as DISTINCT, UNION and QUALIFY, is a query in FROM then.

>>> from sqlwin.errors import Span
>>> limit("LIMIT 10 OFFSET 5", Span(1, 1)).first, limit("FETCH FIRST ROW ONLY", Span(1, 1)).last
(6, 1)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import ALIAS, part

LEGAL = "ORDER BY qty DESC LIMIT 10; … LIMIT 10 OFFSET 5; … FETCH FIRST 10 ROWS ONLY"
ALONE = "no ORDER BY; ORDER BY qty DESC LIMIT 10, which keeps the first rows"
_LIMIT = re.compile(
    r"(?:OFFSET (?P<before>\d+)(?: ROWS?)? )?"
    r"(?:LIMIT (?P<limit>\d+|ALL)"
    r"|FETCH (?:FIRST|NEXT)(?: (?P<rows>\d+))? ROWS? (?:ONLY|(?P<ties>WITH TIES)))"
    r"(?: OFFSET (?P<behind>\d+)(?: ROWS?)?)?",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:`((?:[^`]|``)+)`|(\w+))(?=(?:\s+(?:ASC|DESC|NULLS)\b.*)?\Z)", re.I | re.S)


def limit(text: str, span: Span) -> ast.Limit:
    """QueryError for what is none."""
    found = _LIMIT.fullmatch(" ".join(text.split()))
    if found is None or (found["before"] and found["behind"]):
        raise QueryError("LIMIT takes a whole number of rows", span, legal=LEGAL)
    skipped = int(found["before"] or found["behind"] or 0)
    if found["ties"] and skipped:
        message = "OFFSET beside WITH TIES is not supported yet"
        raise QueryError(message, span, legal="either of them")
    given = found["limit"] or found["rows"] or "1"
    last = int(given) + skipped if given.isdecimal() else None
    return ast.Limit(skipped + 1, last, found["ties"] is not None, span)


def first_rows(select: ast.Select) -> ast.Select:
    """The query with a rank in the place of its ORDER BY."""
    order, bound = select.order, select.limit
    if select.distinct_on:
        first = _first_of_each(replace(select, limit=None))
        return first if bound is None else _first(_around(first), order, bound)
    if not order:
        assert bound is not None
        message = "LIMIT without ORDER BY would keep whichever rows come first"
        raise QueryError(message, bound.span, legal=LEGAL)
    if bound is None or bound.last is None:
        message = "ORDER BY sorts no results: each comes when it is due, and is corrected later"
        raise QueryError(message, order[0].span, legal=ALONE)
    beside = select.distinct is not None or select.qualify is not None
    if beside or _is_union(select) or any(item.overs for item in _meant(order, select)):
        return _first(_around(select), tuple(_listed(key, select) for key in order), bound)
    return _first(select, tuple(_key(key, select) for key in order), bound)


def _first(select: ast.Select, order: tuple[ast.Run, ...], bound: ast.Limit) -> ast.Select:
    assert bound.last is not None
    if bound.last < bound.first:
        raise QueryError("LIMIT 0 keeps no row", bound.span, legal=LEGAL)
    between = f"BETWEEN {bound.first} AND {bound.last}"
    what = f"<= {bound.last}" if bound.first == 1 else between
    spec = ast.Spec(bound.span, order=order)
    rank = _rank("RANK" if bound.ties else "ROW_NUMBER", spec, what, select)
    return replace(select, qualify=rank, order=(), limit=None)


def _first_of_each(select: ast.Select) -> ast.Select:
    keys = tuple(_key(key, select) for key in select.distinct_on)
    order = tuple(_key(key, select) for key in select.order)
    wanted = [parsed(key) for key in keys]
    leading = [parsed(key, exp.Ordered).this for key in order[: len(keys)]]
    if select.qualify is not None:
        message = "DISTINCT ON beside QUALIFY is not supported yet"
        raise QueryError(message, select.qualify.span, legal="a query in FROM with the QUALIFY")
    if len(order) <= len(keys) or any(tree not in wanted for tree in leading):
        listed = ", ".join(key.original for key in select.distinct_on)
        message = "DISTINCT ON keeps the first row of each key, in an order behind its columns"
        span = (select.order or select.distinct_on)[0].span
        raise QueryError(message, span, legal=f"ORDER BY {listed}, qty DESC")
    spec = ast.Spec(keys[0].span, partition=keys, order=order[len(keys) :])
    rank = _rank("ROW_NUMBER", spec, "= 1", select)
    return replace(select, qualify=rank, distinct_on=(), order=())


def _rank(name: str, spec: ast.Spec, bound: str, select: ast.Select) -> ast.Run:
    text = f"{name}() OVER {chr(ast.PLACEHOLDER)} {bound}"
    item = select.items[0]
    return ast.Run(text, text, spec.span, (spec,), item.functions, item.macros)


def _around(select: ast.Select) -> ast.Select:
    """A query of all its columns, with its policies: they are of results."""
    star = ast.Run("*", "*", select.span)
    plain = replace(select, order=(), limit=None, policies=ast.Policies(), ctes=(), ttl=())
    rest = {"policies": select.policies, "ctes": select.ctes, "ttl": select.ttl}
    return ast.Select((star,), ast.From(plain), select.span, **rest)  # type: ignore[arg-type]


def _is_union(select: ast.Select) -> bool:
    return isinstance(select.relation.source, ast.Union)


# --- keys that are of the select list -----------------------------------------------------


def _meant(order: Sequence[ast.Run], select: ast.Select) -> list[ast.Run]:
    found = (_item(key, select) for key in order)
    return [each for each in found if each is not None]


def _key(key: ast.Run, select: ast.Select) -> ast.Run:
    """With the expression of the item that it names."""
    item, named = _item(key, select), _NAME.match(key.text)
    if item is None or named is None:
        return key
    alias = ALIAS.search(item.text) if isinstance(parsed(item), exp.Alias) else None
    value = item if alias is None else part(item, 0, alias.start())
    behind = key.text[named.end() :]
    return replace(value, text=value.text + behind, original=value.original + behind)


def _listed(key: ast.Run, select: ast.Select) -> ast.Run:
    """By the name of the item that it is the number of."""
    item, named = _item(key, select), _NAME.match(key.text)
    if item is None or named is None or not (named[2] or "").isdecimal():
        return key
    name = parsed(item).alias_or_name
    if not name or name == "*":
        message = "a number in ORDER BY is of a column that has a name here"
        raise QueryError(message, key.span, legal="ORDER BY total DESC LIMIT 10")
    text = f"`{name.replace('`', '``')}`{key.text[named.end() :]}"
    return replace(key, text=text, original=text)


def _item(key: ast.Run, select: ast.Select) -> ast.Run | None:
    """Of the select list, what a key names: an alias, or a number."""
    named = _NAME.match(key.text)
    if named is None:
        return None
    if (named[2] or "").isdecimal():
        at = int(named[2])
        if not 0 < at <= len(select.items):
            message = f"there is no column {at} to order by"
            raise QueryError(message, key.span, legal=f"1 to {len(select.items)}")
        return select.items[at - 1]
    name = (named[1] or named[2]).replace("``", "`").lower()
    return next((run for run in select.items if parsed(run).alias_or_name.lower() == name), None)
