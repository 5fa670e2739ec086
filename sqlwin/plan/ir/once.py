"""What follows from a plan node is computed once for that node, and kept with it.

Nodes are frozen and share what is below them: the last of n joins has the other n - 1 below
it, so that whatever walks a tree from each of its nodes takes n² steps and, from each column
of each node, n³. An answer lives as long as its node does.

A function under `once` depends on its arguments alone, is not changed afterwards, and may tell
equal nodes apart. Answers are no part of a node: `replace` makes one without any, and they
are not pickled, as hashes of text differ from process to process.

>>> from dataclasses import dataclass
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

    def known(node: N) -> int:
        kept = node.__dict__
        if "_hash" not in kept:
            kept["_hash"] = compute(node)
        found: int = kept["_hash"]
        return found

    type.__setattr__(made, "__hash__", known)
    type.__setattr__(made, "__getstate__", _declared)
    return made


def _declared(node: Any) -> dict[str, object]:
    return {field.name: getattr(node, field.name) for field in fields(node)}


def once(function: Callable[Concatenate[N, P], R]) -> Callable[Concatenate[N, P], R]:
    """Of a node, and of names."""

    @wraps(function)
    def known(node: N, /, *args: P.args, **named: P.kwargs) -> R:
        kept = _kept(node)
        asked = (function, *args, *named.items())
        if asked not in kept:
            kept[asked] = function(node, *args, **named)
        found: R = kept[asked]
        return found

    return known


def from_below(
    below: Callable[[N], Iterable[N]],
) -> Callable[[Callable[[N], R]], Callable[[N], R]]:
    """As `once`, for what asks the same of `below`: those come first, so that no chain is too
    long for Python's stack."""

    def decorated(function: Callable[[N], R]) -> Callable[[N], R]:
        @wraps(function)
        def known(node: N) -> R:
            waiting = [node]
            while waiting:
                missing = [each for each in below(waiting[-1]) if function not in _kept(each)]
                if missing and function not in _kept(waiting[-1]):
                    waiting += missing
                    continue
                each = waiting.pop()
                if function not in _kept(each):
                    _kept(each)[function] = function(each)
            found: R = _kept(node)[function]
            return found

        return known

    return decorated


def _kept(node: object) -> dict[object, Any]:
    found: dict[object, Any] = node.__dict__.setdefault("_known", {})
    return found
