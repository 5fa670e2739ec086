"""GROUPING SETS, ROLLUP and CUBE: which keys GROUP BY takes together.

Elements of GROUP BY multiply: `a, ROLLUP(b, c)` is `(a, b, c), (a, b), (a)`. Those of
GROUPING SETS add up, and may be ROLLUP, CUBE or GROUPING SETS again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain, compress, product

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.relations.window_columns import window_edge
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import bracketed, part, parts

Keys = tuple[ast.Run, ...]
MOST_SETS = 4096
"""Each is a grouping of all rows of its own."""
MOST_CUBED = 12
_CALL = re.compile(r"(GROUPING\s+SETS|ROLLUP|CUBE)(?=\s*\()", re.IGNORECASE)
_SLIP = re.compile(r"GROUPING\s+SET\s*\(|(ROLLUP|CUBE)\s+[\w`]", re.IGNORECASE)
_WITH = re.compile(r"\s+WITH\s+(ROLLUP|CUBE)\s*\Z", re.IGNORECASE)


def grouping_sets(group: Sequence[ast.Run]) -> list[Keys] | None:
    """The sets, each of keys as they are written; None where GROUP BY has none."""
    for run in group:
        if _SLIP.match(run.text):
            message = "grouping sets stand in brackets behind GROUPING SETS, ROLLUP or CUBE"
            legal = "GROUPING SETS ((a, b), (a), ()), ROLLUP(a, b), CUBE(a, b)"
            raise QueryError(message, run.span, legal=legal)
    if group and _WITH.search(group[-1].text):
        return _with(group)
    if not any(_CALL.match(run.text) for run in group):
        return None
    return _product([_sets(run) for run in group], group)


def _product(factors: Sequence[list[Keys]], group: Sequence[ast.Run]) -> list[Keys]:
    made: list[Keys] = [()]
    for sets in factors:
        if len(made) * len(sets) > MOST_SETS:
            message = f"GROUP BY makes {len(made) * len(sets):,} grouping sets"
            raise QueryError(message, group[0].span, legal=f"at most {MOST_SETS:,}")
        made = [(*one, *other) for one in made for other in sets]
    return made


def _with(group: Sequence[ast.Run]) -> list[Keys]:
    """Hive's `a, b WITH ROLLUP`: all keys but the window's own."""
    *others, last = group
    found = _WITH.search(last.text)
    assert found is not None
    runs = (*others, part(last, 0, found.start()))
    keys = [_unit(run) for run in runs if window_edge(parsed(run)) is None]
    edges = [run for run in runs if window_edge(parsed(run)) is not None]
    sets = _MAKES[found[1].upper()](keys, last)
    return [(*edges, *one) for one in sets]


def _sets(run: ast.Run) -> list[Keys]:
    called = _CALL.match(run.text)
    inner = bracketed(run, called.end()) if called else None
    if called is None or inner is None:
        return [_unit(run)]
    what = " ".join(called[1].upper().split())
    if what == "GROUPING SETS":
        return list(chain.from_iterable(_sets(item) for item in parts(inner)))
    return _MAKES[what]([_unit(item) for item in parts(inner)], run)


def _unit(run: ast.Run) -> Keys:
    """Keys that stand together: those in brackets, or one alone."""
    inner = bracketed(run)
    return (run,) if inner is None else tuple(parts(inner))


def _rollup(units: Sequence[Keys], run: ast.Run) -> list[Keys]:
    return [_flat(units[:count]) for count in range(len(units), -1, -1)]


def _cube(units: Sequence[Keys], run: ast.Run) -> list[Keys]:
    """From all units to none, the first ones longest."""
    if len(units) > MOST_CUBED:
        message = f"CUBE of {len(units)} makes {2 ** len(units):,} grouping sets"
        raise QueryError(message, run.span, legal=f"at most {MOST_CUBED}; or ROLLUP")
    choices = product((True, False), repeat=len(units))
    return [_flat(list(compress(units, choice))) for choice in choices]


def _flat(units: Sequence[Keys]) -> Keys:
    return tuple(chain.from_iterable(units))


_MAKES: dict[str, Callable[[Sequence[Keys], ast.Run], list[Keys]]] = {
    "ROLLUP": _rollup,
    "CUBE": _cube,
}
