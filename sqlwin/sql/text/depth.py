"""How deep a text may be nested, and room for what is.

Parsers and walkers go down one call for each bracket, so a text decides how deep they go.
Brackets, CASE and prefixes (`NOT NOT a`, `- - a`) are counted before any parser sees them;
what they do not show (a long `a + b + c + …`, views over views) is counted in the tree. AND
and OR are no deeper for being many: a long chain of one is put into a balanced tree, which
means and prints the same.

>>> from sqlwin.errors import Span
>>> deepest("SELECT (a + (b)) FROM (SELECT 1) -- ((((")[0]
2
>>> deepest("CASE WHEN a THEN CASE WHEN b THEN 1 END END, NOT NOT - - 1")[0]
4
"""

from __future__ import annotations

import gc
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.sql.text.prepared import QUOTED, span

BRACKETS = 100
OPERATORS = 500
GROWN = 50_000
MESSAGE = f"this is nested too deep: {BRACKETS} brackets or {OPERATORS} operators at most"
LEGAL = "a view, or a query in FROM, for what is inside; AND and OR of any number"
_FRAMES = 8_000
"""Of Python, for the deepest that is taken: some 25 for each bracket, 10 for each operator."""
_COLLECTED = 50_000
"""New objects before Python looks for cycles. A long text's trees are millions of objects, which
its usual 700 goes through over and over: some 40% of the time."""
_LONG = 50
_CHAINS = (exp.And, exp.Or)
_ENDS = {"end": "case", "typed": "type"}
_TOKEN = re.compile(
    rf"{QUOTED}|--[^\n]*|(?P<open>[(\[{{])|(?P<close>[)\]}}])"
    r"|(?P<type>\b(?:ARRAY|MAP|STRUCT)\s*<)|(?P<typed>>)|(?P<case>\bCASE\b)|(?P<end>\bEND\b)"
    r"|(?P<prefix>\bNOT\b|[-+~!])|(?P<other>[\w,;.]+)",
    re.IGNORECASE,
)


def refuse_deep(text: str) -> None:
    depth, at = deepest(text)
    if depth > BRACKETS:
        raise QueryError(MESSAGE, span(text, at, at + 1), legal=LEGAL)


def deepest(text: str) -> tuple[int, int]:
    """How deep the text is nested, no deeper than one more than is legal, and where."""
    opened: list[str] = []
    most, where, prefixes = 0, 0, 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        prefixes = prefixes + 1 if kind == "prefix" else 0
        if kind in ("open", "case", "type"):
            opened.append(kind)
        elif kind in _ENDS and opened and opened[-1] == _ENDS[kind]:
            opened.pop()
        elif kind == "close":
            while opened and opened.pop() != "open":
                pass
        if len(opened) + prefixes > most:
            most, where = len(opened) + prefixes, token.start()
            if most > BRACKETS:
                break
    return most, where


def refuse_deep_tree(tree: exp.Expr, place: Span) -> None:
    """QueryError where an expression is deeper than walkers and the engine can go."""
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > OPERATORS:
            raise QueryError(MESSAGE, place, legal=LEGAL)
        level = [child for node in level for child in node.iter_expressions()]


def refuse_grown(named: Iterable[exp.Expr], before: exp.Expr, place: Span | None) -> None:
    """QueryError where views over views, each with a column twice, make an endless expression.

    named: what stands for the columns of `before`, one for each.
    """
    if sum(_count(each, GROWN) for each in named) >= GROWN > _count(before, GROWN):
        message = f"with those of the views that it reads, this expression has {GROWN:,} parts"
        raise QueryError(message, place, legal="a view that names a column once, or groups")


def _count(tree: exp.Expr, most: int) -> int:
    return sum(1 for _ in islice(tree.dfs(), most))


def balanced(tree: exp.Expr) -> exp.Expr:
    """`tree` with its long chains of AND and OR as deep as their logarithm."""
    chains = [node for node in tree.find_all(*_CHAINS) if type(node.parent) is not type(node)]
    for node in chains:
        terms = _terms(node)
        if len(terms) > _LONG:
            made = _halved(type(node), terms)
            if node is tree:
                tree = made
            else:
                node.replace(made)
    return tree


def _terms(top: exp.Expr) -> list[exp.Expr]:
    terms, left = [], [top]
    while left:
        node = left.pop()
        if type(node) is type(top):
            left += [node.expression, node.this]
        else:
            terms.append(node)
    return terms


def _halved(kind: type[exp.Expr], terms: list[exp.Expr]) -> exp.Expr:
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return kind(this=_halved(kind, terms[:middle]), expression=_halved(kind, terms[middle:]))


# --- room for what is legal -------------------------------------------------------------

_lock = threading.Lock()
_within = 0
_before: tuple[int, tuple[int, int, int]] = (0, (0, 0, 0))


@contextmanager
def room() -> Iterator[None]:
    """Calls of Python may go as deep as a legal text takes them; QueryError beyond. And trees
    may be as large as a long text makes them.

    Both limits are the whole process's: the first to raise them, of several threads, is the one
    whose end is waited for.
    """
    _enter()
    try:
        yield
    except RecursionError:
        raise QueryError(MESSAGE, legal=LEGAL) from None
    finally:
        _leave()


def _enter() -> None:
    global _within, _before
    with _lock:
        if _within == 0:
            _before = sys.getrecursionlimit(), gc.get_threshold()
            depth, (young, *older) = _before
            sys.setrecursionlimit(max(depth, _FRAMES))
            gc.set_threshold(max(young, _COLLECTED) if young else 0, *older)
        _within += 1


def _leave() -> None:
    global _within
    with _lock:
        _within -= 1
        if _within == 0:
            depth, thresholds = _before
            sys.setrecursionlimit(depth)
            gc.set_threshold(*thresholds)
