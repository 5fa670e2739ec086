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
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.calls import call_at
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.syntax.correlated import names, names_outer
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import conjuncts, outside
from sqlwin.sql.text.runs import ALIAS, part

LEGAL = "LATERAL (SELECT b.v FROM b WHERE b.k = a.k ORDER BY b.v DESC LIMIT 3) AS t"
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_BEFORE, _BEHIND = ("<", "<="), (">", ">=")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ONE = re.compile(r"ROW_NUMBER\(\) OVER . <= 1\Z")


@dataclass(frozen=True)
class _Condition:
    """One that names rows before. pieces: what the words compare, which is of one side each."""

    pieces: tuple[ast.Run, ...]
    words: tuple[str, ...]

    @property
    def equal(self) -> bool:
        return self.words == ("=",)


@dataclass
class _Inner:
    """The query within. shown: what `*` has of it; hidden: its further items, by their names."""

    select: ast.Select
    name: str
    own: frozenset[str]
    hidden: dict[str, ast.Run] = field(default_factory=dict)

    def is_own(self, run: ast.Run) -> bool:
        columns = list(parsed(run).find_all(exp.Column))
        return bool(columns) and not names_outer(parsed(run), self.own)

    def bare(self, tree: Expr) -> Expr:
        """Without qualifiers, where they say nothing."""
        made = tree.copy()
        for node in made.find_all(exp.Column) if len(self.own) == 1 else ():
            node.set("table", None)
        return made

    def exposed(self, run: ast.Run) -> str:
        """The name by which the join finds an expression of its own rows."""
        tree = parsed(run)
        for item in self.select.items:
            found = parsed(item)
            if self.bare(found.unalias()) == self.bare(tree) and found.alias_or_name:
                return _named(self.name, found.alias_or_name)
        if any(isinstance(parsed(item), exp.Star) for item in self.select.items):
            if isinstance(tree, exp.Column):
                return _named(self.name, tree.name)
            message = "beside * what is compared with the rows before is a column"
            raise QueryError(message, run.span, legal=LEGAL)
        known = next((name for name, given in self.hidden.items() if parsed(given) == tree), None)
        name = known or f"{self.name}_{len(self.hidden) + 1}"
        self.hidden[name] = run
        return _named(self.name, name)

    def text(self, condition: _Condition) -> str:
        sides = [self.exposed(p) if self.is_own(p) else f"({p.text})" for p in condition.pieces]
        between = ("", *(f" {word} " for word in condition.words))
        return "".join(f"{word}{side}" for word, side in zip(between, sides, strict=True))


def lateral(
    word: ast.Name, select: ast.Select, alias: tuple[ast.Name, ...], on: ast.Run | None
) -> ast.Join:
    """word: all before the bracket, in capitals. on: of the text."""
    name = alias[0].text if alias else f"lateral_{word.span.line}_{word.span.column}"
    inner = _Inner(select, name, frozenset(each.lower() for each in names(select.relation)))
    rest, found = _parted(inner)
    _refuse_others(inner)
    kind = "LEFT JOIN" if word.text.startswith("LEFT") else "JOIN"
    nearest = _nearest(inner, found)
    made = replace(select, where=rest)
    match = None
    if nearest is not None:
        own, sign, other = nearest
        text = f"{other.text} {_MIRRORED[sign]} {inner.exposed(own)}"
        match = replace(other, text=text, original=text)
        made = replace(made, qualify=None)
        kind = kind.replace("JOIN", "ASOF JOIN")
        found = [each for each in found if each.equal]
    elif _counts(select):
        made = keyed(made, _keys(inner, found))
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
    )


def _parted(inner: _Inner) -> tuple[ast.Run | None, list[_Condition]]:
    """Its WHERE without the conditions that name rows before, and these."""
    where, rest, found = inner.select.where, [], []
    for condition in [] if where is None else conjuncts(where):
        if names_outer(parsed(condition), inner.own):
            found.append(_condition(inner, condition))
        else:
            rest.append(condition)
    if where is None or not rest:
        return None, found
    text = " AND ".join(f"({run.text})" for run in rest)
    return replace(where, text=text, original=text), found


def _condition(inner: _Inner, run: ast.Run) -> _Condition:
    """QueryError where it is no comparison of own rows with those before."""
    pieces, words = _cut(run) if isinstance(parsed(run), _COMPARED) else ((), ())
    mixed = any(names_outer(parsed(p), inner.own) and not _whole(p, inner.own) for p in pieces)
    if not pieces or mixed or not any(map(inner.is_own, pieces)):
        message = "a query behind LATERAL compares its rows with those before, a side each"
        raise QueryError(message, run.span, legal="b.k = a.k; b.ts BETWEEN a.ts AND a.ts + …")
    return _Condition(pieces, words)


def _whole(run: ast.Run, own: frozenset[str]) -> bool:
    columns = parsed(run).find_all(exp.Column)
    return all(node.table and node.table.lower() not in own for node in columns)


def _cut(run: ast.Run) -> tuple[tuple[ast.Run, ...], tuple[str, ...]]:
    """At BETWEEN and AND, or at the sign of a comparison."""
    between = isinstance(parsed(run), exp.Between)
    tokens = list(outside(run.text))
    if between:
        found = [(at, token) for at, token in tokens if token.upper() in ("BETWEEN", "AND")][:2]
    else:
        at = next(at for at, token in tokens if token in "<>=!")
        sign = re.match(r"[<>=!]+", run.text[at:])
        assert sign is not None
        found = [(at, sign[0])]
    ends = [at + len(word) for at, word in found]
    cuts = zip((0, *ends), (*(at for at, _ in found), len(run.text)), strict=True)
    return tuple(part(run, a, z) for a, z in cuts), tuple(word.upper() for _, word in found)


# --- what counts, groups or ranks its rows -------------------------------------------------


def _counts(select: ast.Select) -> bool:
    runs = [*select.items, *([] if select.qualify is None else [select.qualify])]
    aggregates = any(_calls(run) for run in select.items)
    given = (select.group, select.distinct, select.having)
    return aggregates or any(given) or any(run.overs for run in runs)


def _calls(run: ast.Run) -> bool:
    calls = (call_at(node, run) for node in parsed(run).walk())
    return any(call is not None and call.over is None for call in calls)


def _keys(inner: _Inner, found: list[_Condition]) -> tuple[ast.Run, ...]:
    """What is equal to the rows before; QueryError where another comparison is with them."""
    select = inner.select
    if any(map(_calls, select.items)) and not select.group:
        message = "an aggregate behind LATERAL needs GROUP BY"
        raise QueryError(message, select.span, legal="the aggregate in SELECT: (SELECT MAX(…) …)")
    for each in found:
        if not each.equal:
            message = "a query behind LATERAL that ranks or groups its rows does so by equalities"
            legal = f"{LEGAL}; ORDER BY b.ts DESC LIMIT 1 with b.ts <= a.ts"
            raise QueryError(message, each.pieces[0].span, legal=legal)
    return tuple(piece for each in found for piece in each.pieces if inner.is_own(piece))


def keyed(select: ast.Select, keys: tuple[ast.Run, ...]) -> ast.Select:
    qualify = None if select.qualify is None else _by(select.qualify, keys)
    windows = tuple((name, _partitioned(spec, keys)) for name, spec in select.windows)
    return replace(
        select,
        items=tuple(_by(item, keys) for item in select.items),
        group=(*select.group, *keys) if select.group else (),
        qualify=qualify,
        windows=windows,
    )


def _by(run: ast.Run, keys: tuple[ast.Run, ...]) -> ast.Run:
    overs = (_partitioned(o, keys) if isinstance(o, ast.Spec) else o for o in run.overs)
    return replace(run, overs=tuple(overs))


def _partitioned(spec: ast.Spec, keys: tuple[ast.Run, ...]) -> ast.Spec:
    return spec if spec.base is not None else replace(spec, partition=(*spec.partition, *keys))


def _nearest(inner: _Inner, found: list[_Condition]) -> tuple[ast.Run, str, ast.Run] | None:
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


def _refuse_others(inner: _Inner) -> None:
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


def _shown(inner: _Inner, alias: tuple[ast.Name, ...]) -> tuple[str, ...]:
    given = [name.text for name in alias[1:]]
    own = given or [parsed(item).alias_or_name for item in inner.select.items]
    if not inner.hidden or all(own):
        return tuple(f"`{name}`" for name in own)
    unnamed = next(i for i, name in zip(inner.select.items, own, strict=True) if not name)
    message = "a column of a query behind LATERAL needs a name here"
    raise QueryError(message, unnamed.span, legal=f"{unnamed.original} AS total")


def _named(relation: str, column: str) -> str:
    return f"`{relation}`.`{column}`"


def _as(run: ast.Run, name: str) -> ast.Run:
    value = run
    if isinstance(parsed(run), exp.Alias):
        end = ALIAS.search(run.text)
        assert end is not None
        value = part(run, 0, end.start())
    return replace(value, text=f"{value.text} AS `{name}`")
