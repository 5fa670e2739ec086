"""Memoized functions of plan nodes: the result is stored with the node.

Nodes are frozen and share what is below them: the last of n joins has the other n - 1 below
it, so that walking the tree from each of its nodes takes n² steps and, from each column
of each node, n³. A result is freed with its node.

A function under `once` depends on its arguments alone, its result is immutable, and it may
distinguish equal nodes. Results are no part of a node: `replace` makes a node without any, and
they are not pickled, as hashes of text differ from process to process.

>>> from sqlwin.lazy_dataclass import dataclass
>>> @hashed_once
... @dataclass(frozen=True)
... class Leaf:
...     name: str
>>> @once
... def shouted(leaf: Leaf) -> str:
...     print("computed")
...     return leaf.name.upper()
>>> leaf = Leaf("a")
>>> shouted(leaf), shouted(leaf)
computed
('A', 'A')
>>> hash(leaf) == hash(Leaf("a"))
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

N = TypeVar("N")
P = ParamSpec("P")
R = TypeVar("R")


def hashed_once(made: type[N]) -> type[N]:
    """Of a frozen dataclass: its hash, which is of all below, is computed once."""
    compute: Callable[[N], int] = made.__hash__

    def memoized(node: N) -> int:
        answers = node.__dict__
        if "_hash" not in answers:
            answers["_hash"] = compute(node)
        found: int = answers["_hash"]
        return found

    type.__setattr__(made, "__hash__", memoized)
    type.__setattr__(made, "__getstate__", _declared)
    return made


def _declared(node: Any) -> dict[str, object]:
    return {field.name: getattr(node, field.name) for field in fields(node)}


def once(function: Callable[Concatenate[N, P], R]) -> Callable[Concatenate[N, P], R]:
    """Of a node, and of names."""

    @wraps(function)
    def memoized(node: N, /, *args: P.args, **named: P.kwargs) -> R:
        answers = _answers(node)
        call = (function, *args, *named.items())
        if call not in answers:
            answers[call] = function(node, *args, **named)
        found: R = answers[call]
        return found

    return memoized


def from_below(
    below: Callable[[N], Iterable[N]],
) -> Callable[[Callable[[N], R]], Callable[[N], R]]:
    """As `once`, for what asks the same of `below`: those come first, so that no chain is too
    long for Python's stack."""

    def decorated(function: Callable[[N], R]) -> Callable[[N], R]:
        @wraps(function)
        def memoized(node: N) -> R:
            todo = [node]
            while todo:
                missing = [each for each in below(todo[-1]) if function not in _answers(each)]
                if missing and function not in _answers(todo[-1]):
                    todo += missing
                    continue
                each = todo.pop()
                if function not in _answers(each):
                    _answers(each)[function] = function(each)
            found: R = _answers(node)[function]
            return found

        return memoized

    return decorated


def _answers(node: object) -> dict[object, Any]:
    found: dict[object, Any] = node.__dict__.setdefault("_known", {})
    return found
