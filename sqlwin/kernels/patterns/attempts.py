"""Matching a pattern from one row on: the first match in the order that SQL prefers.

A pattern is compiled to a program of a few instructions (`programs`), which a loop runs with a
stack of alternatives: what is preferred goes on, the other waits. So the first end that is reached
is the match: earlier alternatives before later ones, greedy quantifiers with more rows before
fewer.

A condition of rows alone is a column. Any other depends on what was mapped before: the attempt
yields a `Check` and goes on with its result, so that checks of many attempts are
evaluated together. A place of the program that failed at a row fails again, and is not tried twice,
unless some condition reads other rows then (`Read`). So an attempt takes no more steps than rows
times places, and times the different rows that conditions read: of `(a+)+ b` with SUM(a.x) these
are the same however the rounds are cut; of `(a | b)+` with SUM(a.x) each choice is another sum.

>>> from sqlwin.kernels.patterns.paths import mapped
>>> from sqlwin.kernels.patterns.programs import program
>>> from sqlwin.patterns import Repeat, Sequence, Variable
>>> pattern = Sequence((Variable("a"), Repeat(Variable("b"), 0, None), Variable("c")))
>>> flags = {"a": [1, 0, 0, 0], "b": [0, 1, 1, 1], "c": [0, 0, 1, 0]}
>>> found = answered(attempt(program(pattern), flags, 0, 4))
>>> mapped(found.path), found.furthest, found.ended
(['a', 'b', 'c'], 3, True)
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import field
from typing import Any

from sqlwin.kernels.patterns.paths import Mapped, Path
from sqlwin.kernels.patterns.programs import JUMP, LOOP, ROW, START, STOP, TOOK, Program
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Check:
    """Whether `row` may be mapped to `variable`, as the last of `path`."""

    variable: str
    row: int
    path: Path


@dataclass(frozen=True)
class Read:
    """Which rows conditions read of those that are mapped to any of `names`: so many of the first
    and of the last, or every one."""

    names: frozenset[str]
    first: int = 0
    last: int = 0
    every: bool = False


@dataclass
class _Seen:
    """What conditions read of a path, as a value: equal where they read the same.

    known: numbers of sequences of rows, by the one before and the row behind it.
    """

    reads: tuple[Read, ...]
    known: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def nothing(self) -> tuple[Any, ...]:
        return (((), (), 0),) * len(self.reads)

    def behind(self, seen: tuple[Any, ...], name: str, row: int) -> tuple[Any, ...]:
        """With a row that is mapped to `name` behind."""
        return tuple(
            self._with(read, own, row) if name in read.names else own
            for read, own in zip(self.reads, seen, strict=True)
        )

    def _with(self, read: Read, own: tuple[Any, ...], row: int) -> tuple[Any, ...]:
        first, last, every = own
        if len(first) < read.first:
            first = (*first, row)
        if read.last:
            last = (*last, row)[-read.last :]
        if read.every:
            every = self.known.setdefault((every, row), len(self.known) + 1)
        return first, last, every


@dataclass(frozen=True)
class Found:
    """path: None where there is no match, or an empty one. furthest: the last row that was looked
    at. ended: whether a row was wanted behind the last one. empty: it is a match of no row."""

    path: Path
    furthest: int
    ended: bool
    empty: bool = False


Attempt = Generator[Check, bool, Found]


def attempt(
    program: Program,
    flags: Mapping[str, Sequence[Any] | None],
    start: int,
    end: int,
    reads: tuple[Read, ...] = (),
    first: int | None = None,
) -> Attempt:
    """A match that begins at row `start` and ends before `end`. first: the first row of its
    partition.

    flags: of each variable whose condition is of rows alone whether each row fulfils it; None:
    every one does. A variable that is not there is checked row by row. reads: by those conditions.
    """
    sight = _Seen(reads)
    stack: list[_State] = [(0, start, None, (), sight.nothing)]
    tried: set[tuple[Any, ...]] = set()
    furthest, ended = start - 1, False
    while stack:
        _, row, path, _, seen = state = stack.pop()
        at = _to_row(program, state, stack, first)
        while at is not None:
            step = program[at]
            if step[0] == STOP:
                return Found(path, furthest, ended, path is None)
            if row >= end:
                ended = True
                break
            if (at, row, seen) in tried:
                break
            tried.add((at, row, seen))
            furthest, name = max(furthest, row), step[1]
            mapped_to = Mapped(path, name, step[2])
            if name in flags:
                known = flags[name]
                fits = known is None or bool(known[row])
            else:
                fits = yield Check(name, row, mapped_to)
            if not fits:
                break
            seen = sight.behind(seen, name, row) if reads else seen
            row, path = row + 1, mapped_to
            at = _to_row(program, (at + 1, row, path, (), seen), stack, first)
    return Found(None, furthest, ended)


_State = tuple[int, int, Path, tuple[int, ...], tuple[Any, ...]]
"""A place of the program, the next row, the path to it, loops entered since the last row, and what
conditions read of the path."""


def _to_row(program: Program, state: _State, stack: list[_State], first: int | None) -> int | None:
    """The next place that takes a row, or the end; None where a round took no row, or this is no
    start."""
    at, row, path, rounds, seen = state
    while program[at][0] not in (ROW, STOP):
        step = program[at]
        if step[0] == JUMP:
            at = step[1]
            continue
        if step[0] in (START, TOOK):
            if row != first if step[0] == START else step[1] in rounds:
                return None
            at += 1
            continue
        if step[0] == LOOP:
            if at in rounds:
                return None
            rounds = (*rounds, at)
        stack.append((step[2], row, path, rounds, seen))
        at = step[1]
    return at


def answered(made: Attempt) -> Found:
    """The end of an attempt in which nothing is checked row by row."""
    try:
        check = next(made)
    except StopIteration as stopped:
        found: Found = stopped.value
        return found
    raise ValueError(f"nobody evaluates {check}")
