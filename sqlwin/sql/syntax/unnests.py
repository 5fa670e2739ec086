"""UNNEST and EXPLODE, wherever they stand, as unnests of an input of FROM.

    FROM a CROSS JOIN UNNEST(a.xs) AS t(x)        FROM a, UNNEST(a.xs) AS t(x)
    FROM a LATERAL VIEW EXPLODE(a.xs) t AS x      SELECT EXPLODE(xs) AS x FROM a
    FROM a, LATERAL TABLE(f(a.x)) AS t(y)         FROM a LEFT JOIN LATERAL f(a.x) AS t(y) ON TRUE

One behind a join is of the input whose name it begins with: the array is in one of its columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lark import Token

from sqlwin.errors import QueryError, Span
from sqlwin.sql.syntax.clauses import Clause
from sqlwin.sql.syntax.leaves import Children, named
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import bracketed, part

FUNCTIONS = ("UNNEST", "EXPLODE", "POSEXPLODE", "INLINE")
_LATERAL = {"TABLE": "UNNEST", "LATERAL": "UNNEST", "JOIN": "UNNEST"}
"""Of what a table function gives for a row: LATERAL TABLE(f(x)), LATERAL f(x), CROSS JOIN f(x)."""
HIDDEN = "exploded"
_CALL = re.compile(r"\s*(\w+)\s*(?=\()")
_ALIASES = re.compile(r"\s*(?:AS\s+)?(?:\((?P<listed>.*)\)|(?P<one>`.+`|\w+))?\s*", re.I | re.S)
_TRUE = ("TRUE", "1 = 1", "1=1")
_QUALIFIER = re.compile(r"[\s(]*(?:`([^`]+)`|(\w+))\s*\.")


def unnest(children: Children, span: Span) -> ast.Unnest:
    """Of a join word with UNNEST, or of LATERAL VIEW, which has the function behind it."""
    word, *rest = children
    runs = [c for c in rest if isinstance(c, ast.Run)]
    words = str(word).upper().split()
    names: tuple[ast.Name, ...] = next((c for c in rest if isinstance(c, tuple)), ())
    if word.type == "LATERAL_VIEW":
        function, *called = (named(c) for c in rest if isinstance(c, Token))
        made = made_of(function, runs[0], span, outer=words[-1] == "OUTER")
        made = replace(made, alias=called[0] if called else None, columns=names)
    else:
        last = words[-1].lstrip(",")
        function = ast.Name(_LATERAL.get(last, last), _last_word(word))
        array = zipped(runs) if last.endswith("UNNEST") else runs[0]
        made = made_of(function, array, span, outer=words[0] == "LEFT")
        made = replace(made, alias=names[0] if names else None, columns=names[1:])
        several = tuple(runs) if array is not runs[0] else ()
        made = replace(made, ordinality=_ordinality(made, rest), arrays=several)
    refused = [] if made.arrays else runs[1:]
    _refuse(refused, next((c for c in rest if isinstance(c, Clause)), None))
    return made


def zipped(arrays: Sequence[ast.Run]) -> ast.Run:
    """Of several the first elements together, then the second, and NULL where an array has ended;
    one that is NULL has no elements."""
    if len(arrays) == 1:
        return arrays[0]
    text = ", ".join(f"COALESCE({run.text}, ARRAY())" for run in arrays)
    return replace(arrays[0], text=f"ARRAYS_ZIP({text})")


def _refuse(runs: Sequence[ast.Run], on: Clause | None) -> None:
    if runs:
        message = "of several arrays at once there is UNNEST"
        raise QueryError(message, runs[0].span, legal="CROSS JOIN UNNEST(a, b) AS t(x, y)")
    if on is not None and " ".join(on.value.text.upper().split()) not in _TRUE:
        message = "UNNEST pairs a row with each of its own elements, whatever they are"
        raise QueryError(message, on.value.span, legal="ON TRUE, and the condition in WHERE")


def _ordinality(made: ast.Unnest, children: Children) -> Span | None:
    found = [named(c).span for c in children if isinstance(c, Token)]
    if found and made.function.text != "UNNEST":
        message = f"{made.function.text} takes no WITH ORDINALITY"
        raise QueryError(message, found[0], legal="UNNEST(…) WITH ORDINALITY")
    return found[0] if found else None


def made_of(function: ast.Name, array: ast.Run, span: Span, outer: bool = False) -> ast.Unnest:
    """function: as written; EXPLODE_OUTER is EXPLODE of a row that stays."""
    name = function.text.upper()
    outer = outer or name.endswith("_OUTER")
    plain = ast.Name(name.removesuffix("_OUTER"), function.span)
    if plain.text not in FUNCTIONS:
        message = f"LATERAL VIEW of {name} is not supported yet"
        raise QueryError(message, function.span, legal="EXPLODE, POSEXPLODE, INLINE")
    return ast.Unnest(plain, array, span, outer)


def _last_word(token: Token) -> Span:
    text = str(token)
    last = text.split()[-1].lstrip(",")
    line, begin = text.count("\n"), len(text) - len(last)
    column = begin - (text.rfind("\n", 0, begin) + 1)
    return Span(
        (token.line or 1) + line, column + (1 if line else token.column or 1), max(1, len(last))
    )


# --- of which input -----------------------------------------------------------------------


def joined(children: Children) -> tuple[ast.From, tuple[ast.Join, ...]]:
    """The first input and the joins, each unnest with the input that it is of."""
    first: ast.From = children[0]
    joins = list(first.joins)  # of a join in brackets
    for child in children[1:]:
        if isinstance(child, ast.Join):
            joins.append(child)
        elif isinstance(child, ast.Unnest) and not joins:
            first = replace(first, unnests=(*first.unnests, child))
        elif isinstance(child, ast.Unnest):
            first, joins = _behind(child, first, joins)
    return first, tuple(joins)


def _behind(
    unnest: ast.Unnest, first: ast.From, joins: list[ast.Join]
) -> tuple[ast.From, list[ast.Join]]:
    """Of a row that is null-padded there is no array; so the join comes first in a query of its
    own, as does one of columns of several inputs."""
    found = _QUALIFIER.match(unnest.array.original)
    name = "" if found is None else (found[1] or found[2]).lower()
    inputs = [first, *(join.right for join in joins)]
    at = [n for n, each in enumerate(inputs) if name in _names(each)]
    if not at:
        message = "UNNEST behind a join begins with the name of the input whose array it is"
        raise QueryError(
            message, unnest.array.span, legal="UNNEST(o.items) of FROM orders o JOIN …"
        )
    kinds = [join.word.text for join in joins]
    if not (_pads_no_left(kinds) if at[0] == 0 else _inner(kinds)):
        message = "UNNEST behind a join is of an array of one input, whose rows are never padded"
        legal = "a.items of FROM a JOIN b, before the join; UNNEST over a query with the join"
        raise QueryError(message, unnest.function.span, legal=legal)
    if at[0] == 0:
        return replace(first, unnests=(*first.unnests, unnest)), joins
    join = joins[at[0] - 1]
    right = replace(join.right, unnests=(*join.right.unnests, unnest))
    joins[at[0] - 1] = replace(join, right=right)
    return first, joins


def _inner(kinds: Sequence[str]) -> bool:
    return all(word in (",", "JOIN", "INNER JOIN", "CROSS JOIN") for word in kinds)


def _pads_no_left(kinds: Sequence[str]) -> bool:
    return not any(kind in word for word in kinds for kind in ("RIGHT", "FULL", "NATURAL"))


def _names(source: ast.From) -> list[str]:
    own = source.alias or (source.source if isinstance(source.source, ast.Name) else None)
    unnests = [each.alias for each in source.unnests]
    return [each.text.lower() for each in (own, *unnests) if each is not None]


# --- in SELECT ----------------------------------------------------------------------------


def in_select(select: ast.Select) -> ast.Select:
    """`SELECT EXPLODE(xs) AS x`, Spark's, as an unnest of FROM whose columns only it names."""
    found = [(at, made) for at, run in enumerate(select.items) if (made := _generator(run))]
    if not found:
        return select
    if len(found) > 1:
        message = "one EXPLODE a SELECT, as in Spark"
        raise QueryError(message, found[1][1].function.span, legal="LATERAL VIEW for the other")
    beside = (select.group, select.having, select.qualify, select.relation.joins)
    if any(beside) or any(run.overs for run in select.items):
        message = "EXPLODE in SELECT beside GROUP BY, OVER or a join is not supported yet"
        legal = "CROSS JOIN UNNEST(…) in FROM; a query in FROM with the EXPLODE"
        raise QueryError(message, found[0][1].function.span, legal=legal)
    at, made = found[0]
    items = (*select.items[:at], *_named(made), *select.items[at + 1 :])
    hidden = replace(
        made,
        alias=ast.Name(HIDDEN, made.span),
        columns=tuple(replace(name, text=f"exploded {name.text}") for name in made.columns),
        hidden=True,
    )
    relation = replace(select.relation, unnests=(*select.relation.unnests, hidden))
    return replace(select, items=items, relation=relation)


def _generator(run: ast.Run) -> ast.Unnest | None:
    called = _CALL.match(run.text)
    if called is None or called[1].upper().removesuffix("_OUTER") not in FUNCTIONS:
        return None
    end = _closing(run.text, called.end())
    whole = part(run, called.end(), end)
    array = bracketed(whole)
    aliases = _ALIASES.fullmatch(run.text, end)
    if array is None or aliases is None:
        return None
    function = ast.Name(called[1].upper(), run.at(called.start(1), called.end(1)))
    made = made_of(function, array, run.span)
    texts = (aliases["listed"] or aliases["one"] or "").split(",")
    names = [ast.Name(text.strip().strip("`"), run.span) for text in texts if text.strip()]
    return replace(made, columns=tuple(names) or _defaults(made))


def _defaults(unnest: ast.Unnest) -> tuple[ast.Name, ...]:
    """As Spark calls them, of an array; a map's need names."""
    names = ("pos", "col") if unnest.function.text == "POSEXPLODE" else ("col",)
    return tuple(ast.Name(name, unnest.span) for name in names)


def _named(unnest: ast.Unnest) -> tuple[ast.Run, ...]:
    texts = [f"{HIDDEN}.`exploded {n.text}` AS `{n.text}`" for n in unnest.columns]
    return tuple(ast.Run(text, text, unnest.span) for text in texts)


def _closing(text: str, opened: int) -> int:
    """Behind the bracket that closes the one at `opened`; quotes are passed over."""
    depth, quote = 0, ""
    for at in range(opened, len(text)):
        letter = text[at]
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"`":
            quote = letter
        else:
            depth += (letter in "([") - (letter in ")]")
            if depth == 0:
                return at + 1
    return len(text)
