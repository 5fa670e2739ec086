"""Queries in WHERE as joins: EXISTS and IN are SEMI JOIN, NOT EXISTS and NOT IN are ANTI JOIN.

    FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k)      a SEMI JOIN b ON b.k = a.k
    FROM a WHERE a.k IN (SELECT k FROM b WHERE b.v = a.v)      a SEMI JOIN b ON a.k = b.k AND …
    FROM a WHERE a.k IN (SELECT k FROM b GROUP BY k)           a SEMI JOIN (SELECT …) ON a.k = …
    FROM a WHERE a.k NOT IN (SELECT k FROM b)      a ANTI JOIN b ON (a.k = b.k) IS NOT FALSE
    FROM a WHERE a.k < ANY (SELECT k FROM b)       a SEMI JOIN b ON a.k < b.k
    FROM a WHERE a.k < ALL (SELECT k FROM b)       a ANTI JOIN b ON (a.k >= b.k) IS NOT FALSE

A name without a qualifier means a column of the query's own input, where it has such a one.
What the text leaves as it is says TRUE in place of the query, so that all places hold.

>>> from sqlwin.errors import Span
>>> text = "v > 1 AND k NOT IN (SELECT k FROM b)"
>>> [found] = queries(ast.Run(text, text, Span(1, 1)))
>>> found.word.text, found.value.text, found.negated, found.inner.text
('IN', 'k', True, 'SELECT k FROM b')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.calls import call_at
from sqlwin.sql.expressions.scalars import NESTED, parsed
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import TOKEN, closing
from sqlwin.sql.text.runs import ALIAS, bracketed, part, parts, quoted

Parse = Callable[[ast.Run], ast.Select]

LEGAL = "EXISTS (SELECT 1 FROM b WHERE b.id = a.id), by itself or joined by AND"
_NOTS = re.compile(r"(\s*\bNOT\b)*\s*", re.IGNORECASE)
_NOT_IN = re.compile(r"\s*(\bNOT\s*)?\Z", re.IGNORECASE)
_ASKS = re.compile(rf"\s*\((?={NESTED})", re.IGNORECASE)
_QUERY = re.compile(rf"\((?={NESTED})", re.IGNORECASE)
_SIGN = re.compile(r"\s*(<=>|<>|!=|<=|>=|=|<|>)\s*\Z")
_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_WORDS = ("EXISTS", "IN", "ANY", "SOME", "ALL")
_NOTHING_ELSE = re.compile(r"(\s|TRUE\b|AND\b)*\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Found:
    """One condition with a query. start, end: its characters. value: what stands before IN. sign:
    how it is compared with what the query gives."""

    word: ast.Name
    start: int
    end: int
    negated: bool
    value: ast.Run
    inner: ast.Run
    sign: str = "="


def unnested(select: ast.Select, parse: Parse) -> ast.Select:
    """The query with the queries of its expressions as joins; parse: of what stands in brackets."""
    if any(_QUERY.search(run.text) for run in _expressions(select)):
        from sqlwin.sql.syntax.subqueries.scalar import without_scalars  # by need

        select = without_scalars(select, parse)
    where = select.where
    found = [] if where is None else queries(where)
    if where is None or not found:
        return select
    if select.relation.window is not None:
        message = f"{found[0].word.text} beside a window of the stream is not supported yet"
        legal = "a query in FROM with this WHERE, and the window over it; FROM TUMBLE(…)"
        raise QueryError(message, found[0].word.span, legal=legal)
    joins = tuple(_join(each, parse, at) for at, each in enumerate(found, 1))
    relation = replace(select.relation, joins=(*select.relation.joins, *joins))
    return replace(select, relation=relation, where=_rest(where, found))


def _expressions(select: ast.Select) -> Iterator[ast.Run]:
    given = (select.where, select.having, *(join.on for join in select.relation.joins))
    yield from (run for run in given if run is not None)
    yield from select.items


def queries(run: ast.Run) -> list[Found]:
    """QueryError for a query that is no condition joined by AND."""
    tokens = [(token.start(), token[0]) for token in TOKEN.finditer(run.text)]
    made: list[Found] = []
    depth, begin, until, either = 0, 0, 0, False
    for at, token in tokens:
        if at < until:
            continue
        word = token.upper()
        if word in _WORDS and (matched := _ASKS.match(run.text, at + len(token))):
            until = closing(run.text, matched.end() - 1)
            name = ast.Name(word, run.at(at, at + len(token)))
            if depth:
                raise _placed(name, "in brackets")
            before, inner = part(run, begin, at), part(run, matched.end(), until - 1)
            made.append(_found(name, begin, until, before, inner))
        elif word in ("AND", "OR") and not depth:
            either, begin = either or word == "OR", at + len(token)
        elif until > begin and made and not token.isspace():
            raise _placed(made[-1].word, f"before {token}")
        depth += (token in "([") - (token in ")]")
    if made and either:
        raise _placed(made[0].word, "under OR")
    return made


def _found(word: ast.Name, start: int, end: int, before: ast.Run, inner: ast.Run) -> Found:
    lead = _NOTS.match(before.text)
    assert lead is not None
    if word.text not in ("EXISTS", "IN"):
        return _compared(word, start, end, before, inner)
    trail = _NOT_IN.search(before.text, lead.end())
    assert trail is not None
    nots = len((lead[0] + " " + trail[0]).split())
    value = part(before, lead.end(), trail.start())
    if word.text == "EXISTS" and value.text:
        raise _placed(word, f"behind {value.text}")
    return Found(word, start, end, nots % 2 == 1, value, inner)


def _compared(word: ast.Name, start: int, end: int, before: ast.Run, inner: ast.Run) -> Found:
    """`x < ALL (…)` is no `x >= ANY (…)`; `x = ANY (…)` is IN."""
    lead, sign = _NOTS.match(before.text), _SIGN.search(before.text)
    assert lead is not None
    if sign is None or sign[1] == "<=>":
        message = f"{word.text} stands behind a comparison"
        raise QueryError(message, word.span, legal=f"a.x > {word.text} (SELECT b.x FROM b)")
    every, negated = word.text == "ALL", len(lead[0].split()) % 2 == 1
    how = sign[1].replace("!=", "<>")
    value = part(before, lead.end(), sign.start())
    if bracketed(value) is not None and len(parts(value)) > 1:
        raise _placed(word, "behind a row")
    how = _OPPOSITE[how] if every else how
    return Found(replace(word, text="IN"), start, end, negated != every, value, inner, how)


def _rest(where: ast.Run, found: Sequence[Found]) -> ast.Run | None:
    text = where.text
    for each in found:
        text = text[: each.start] + " TRUE".ljust(each.end - each.start) + text[each.end :]
    return None if _NOTHING_ELSE.match(text) else replace(where, text=text)


def _join(found: Found, parse: Parse, number: int) -> ast.Join:
    select = parse(found.inner)
    kind = "LEFT ANTI JOIN" if found.negated else "LEFT SEMI JOIN"
    word = ast.Name(kind, found.word.span)
    simple = _simple(select)
    if found.word.text == "EXISTS":
        if not simple or select.where is None:
            message = "EXISTS takes the rows of one input, and a condition of both queries"
            raise QueryError(message, found.word.span, legal=f"{LEGAL}; a view of all else")
        return ast.Join(word, select.relation, select.where, nested=True)
    values, select = _values(found), _listed(select)
    if not _as_many(select, len(values)):
        many = "one column" if len(values) == 1 else f"{len(values)} columns, as what is before it"
        message = f"the query of an IN has {many}"
        raise QueryError(message, select.span, legal="a.id IN (SELECT b.id FROM b …)")
    if simple:
        members = [_unnamed(item) for item in select.items]
        equal = tuple(zip(values, members, strict=True))
        source, where = select.relation, select.where
        return ast.Join(word, source, where, nested=True, equal=equal, sign=found.sign)
    alias = ast.Name(f"in{number}", select.span)
    names = [f"value{at}" if at else "value" for at in range(len(values))]
    called = tuple(ast.Name(name, select.span) for name in names)
    source = ast.From(replace(select, called=called), alias=alias)
    members = [replace(select.items[0], text=n, original=n, overs=()) for n in names]
    equal = tuple(zip(values, members, strict=True))
    return ast.Join(word, source, nested=True, equal=equal, sign=found.sign)


def _values(found: Found) -> list[ast.Run]:
    """What stands before IN: one value, or those of a row. Of NOT IN one, for a row with a NULL is
    neither in the query nor not."""
    inner = bracketed(found.value)
    values = [] if inner is None else parts(inner)
    if len(values) < 2:
        return [found.value]
    if found.negated:
        message = "NOT IN is of one value, and this row has several"
        legal = "NOT EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND b.y = a.y)"
        raise QueryError(message, found.value.span, legal=legal)
    return values


def _listed(select: ast.Select) -> ast.Select:
    """VALUES by its columns."""
    source = select.relation.source
    whole = [item.text.strip() for item in select.items] == ["*"]
    if not isinstance(source, ast.Inline) or not source.values or source.columns or not whole:
        return select
    inner = bracketed(source.runs[0])
    width = 1 if inner is None else len(parts(inner))
    return replace(select, items=tuple(quoted(f"col{at + 1}", source.span) for at in range(width)))


def _simple(select: ast.Select) -> bool:
    """Whether it gives the rows of one input as they come: DISTINCT changes nothing of that."""
    given = (select.group, select.having, select.qualify, select.ctes, select.ttl, select.refused)
    source = select.relation
    if (
        isinstance(source.source, ast.Union)
        or any(given)
        or select.policies.span is not None
        or source.joins
        or source.window is not None
    ):
        return False
    runs = [run for run in select.items if run.text.strip() != "*"]
    trees = [(parsed(run), run) for run in runs]
    calls = (call_at(node, run) for tree, run in trees for node in tree.walk())
    return not any(run.overs for run in runs) and all(call is None for call in calls)


def _unnamed(item: ast.Run) -> ast.Run:
    if not isinstance(parsed(item), exp.Alias):
        return item
    end = ALIAS.search(item.text)
    assert end is not None
    return part(item, 0, end.start())


def _as_many(select: ast.Select, columns: int) -> bool:
    """Whether it has so many columns, as far as can be seen before its FROM is known."""
    if isinstance(select.relation.source, ast.Union):
        return all(_as_many(_listed(part), columns) for part in select.relation.source.parts)
    stars = (isinstance(parsed(item), exp.Star) for item in select.items)
    return len(select.items) == columns and not any(stars)


def _placed(word: ast.Name, where: str) -> QueryError:
    message = f"a query in WHERE, {where}, is not supported yet"
    return QueryError(message, word.span, legal=LEGAL)
