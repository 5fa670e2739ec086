"""Matching a pattern from one row on: the first match in the order that SQL prefers.

A pattern is compiled to a program of a few instructions, which a loop runs with a stack of
alternatives: what is preferred goes on, the other waits. So the first end that is reached is the
match: earlier alternatives before later ones, greedy quantifiers with more rows before fewer.

    row v        the next row is mapped to variable v, if it fulfils its condition
    split a b    a is tried before b
    loop a b     likewise; b alone, once a round has taken no row
    jump a
    start        goes on only at the first row of a partition
    end

A condition of rows alone is a column. Any other depends on what was mapped before: the attempt
yields a `Check` and goes on with its result, so that checks of many attempts are
evaluated together. Where all conditions are of rows alone a place of the program that failed at a
row fails again, and is not tried twice; so an attempt takes no more steps than rows times places.

>>> from sqlwin.patterns import Repeat, Sequence, Variable
>>> pattern = Sequence((Variable("a"), Repeat(Variable("b"), 0, None), Variable("c")))
>>> flags = {"a": [1, 0, 0, 0], "b": [0, 1, 1, 1], "c": [0, 0, 1, 0]}
>>> found = answered(attempt(program(pattern), flags, 0, 4))
>>> mapped(found.path), found.furthest, found.ended
(['a', 'b', 'c'], 3, True)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlwin.patterns import Choice, Excluded, Pattern, Repeat, Start, Variable, shortest
from sqlwin.patterns import Sequence as InOrder

ROW, SPLIT, LOOP, JUMP, STOP, START = range(6)
Program = tuple[tuple[Any, ...], ...]


class Mapped(NamedTuple):
    """A row that is mapped to a variable, behind the rows before it. hidden: by an exclusion."""

    before: Any
    name: str
    hidden: bool = False


Path = Mapped | None
"""What rows are mapped to, the last first."""


@dataclass(frozen=True)
class Check:
    """Whether `row` may be mapped to `variable`, behind `path`."""

    variable: str
    row: int
    path: Path


@dataclass(frozen=True)
class Found:
    """path: None where there is no match, or an empty one. furthest: the last row that was looked
    at. ended: whether a row was wanted behind the last one. empty: it is a match of no row."""

    path: Path
    furthest: int
    ended: bool
    empty: bool = False


Attempt = Generator[Check, bool, Found]


def program(pattern: Pattern) -> Program:
    made: list[tuple[Any, ...]] = []
    _compile(pattern, made)
    return (*made, (STOP,))


def _compile(pattern: Pattern, made: list[tuple[Any, ...]], hidden: bool = False) -> None:
    if isinstance(pattern, Variable):
        made.append((ROW, pattern.name, hidden))
    elif isinstance(pattern, Start):
        made.append((START,))
    elif isinstance(pattern, Excluded):
        _compile(pattern.part, made, hidden=True)
    elif isinstance(pattern, InOrder):
        for part in pattern.parts:
            _compile(part, made, hidden)
    elif isinstance(pattern, Choice):
        _compile_choice(pattern.parts, made, hidden)
    else:
        _compile_repeat(pattern, made, hidden)


def _compile_choice(parts: Sequence[Pattern], made: list[tuple[Any, ...]], hidden: bool) -> None:
    first, *others = parts
    if not others:
        _compile(first, made, hidden)
        return
    split = len(made)
    made.append(())
    _compile(first, made, hidden)
    jump = len(made)
    made.append(())
    made[split] = (SPLIT, split + 1, len(made))
    _compile_choice(others, made, hidden)
    made[jump] = (JUMP, len(made))


def _compile_repeat(repeat: Repeat, made: list[tuple[Any, ...]], hidden: bool) -> None:
    for _ in range(repeat.least):
        _compile(repeat.part, made, hidden)
    if repeat.most is None:
        head = len(made)
        made.append(())
        _compile(repeat.part, made, hidden)
        made.append((JUMP, head))
        kind = LOOP if shortest(repeat.part) == 0 else SPLIT
        made[head] = (kind, *_ordered(head + 1, len(made), repeat.reluctant))
        return
    heads = []
    for _ in range(repeat.most - repeat.least):
        heads.append(len(made))
        made.append(())
        _compile(repeat.part, made, hidden)
    for head in heads:
        made[head] = (SPLIT, *_ordered(head + 1, len(made), repeat.reluctant))


def _ordered(inside: int, behind: int, reluctant: bool) -> tuple[int, int]:
    return (behind, inside) if reluctant else (inside, behind)


def attempt(
    program: Program,
    flags: Mapping[str, Sequence[Any] | None],
    start: int,
    end: int,
    of_matches: bool = False,
    first: int | None = None,
) -> Attempt:
    """A match that begins at row `start` and ends before `end`. first: the first row of its
    partition.

    flags: of each variable whose condition is of rows alone whether each row fulfils it; None:
    every one does. A variable that is not there is checked row by row. of_matches: whether there
    are such.
    """
    stack: list[_State] = [(0, start, None, ())]
    tried: set[tuple[int, int]] = set()
    furthest, ended = start - 1, False
    while stack:
        _, row, path, _ = state = stack.pop()
        at = _to_row(program, state, stack, first)
        while at is not None:
            step = program[at]
            if step[0] == STOP:
                return Found(path, furthest, ended, path is None)
            if row >= end:
                ended = True
                break
            if not of_matches and (at, row) in tried:
                break
            tried.add((at, row))
            furthest, name = max(furthest, row), step[1]
            if name in flags:
                known = flags[name]
                fits = known is None or bool(known[row])
            else:
                fits = yield Check(name, row, path)
            if not fits:
                break
            row, path = row + 1, Mapped(path, name, step[2])
            at = _to_row(program, (at + 1, row, path, ()), stack, first)
    return Found(None, furthest, ended)


_State = tuple[int, int, Path, tuple[int, ...]]
"""A place of the program, the next row, the path to it, and loops entered since the last row."""


def _to_row(program: Program, state: _State, stack: list[_State], first: int | None) -> int | None:
    """The next place that takes a row, or the end; None where a round took no row, or this is no
    start."""
    at, row, path, rounds = state
    while program[at][0] not in (ROW, STOP):
        step = program[at]
        if step[0] == JUMP:
            at = step[1]
            continue
        if step[0] == START:
            if row != first:
                return None
            at += 1
            continue
        if step[0] == LOOP:
            if at in rounds:
                return None
            rounds = (*rounds, at)
        stack.append((step[2], row, path, rounds))
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


def mapped(path: Path) -> list[str]:
    """Variables, by rows from the first."""
    made = []
    while path is not None:
        made.append(path.name)
        path = path.before
    return made[::-1]


Takes = Callable[[str], bool]
"""Whether rows of a variable are meant."""


def row_from_last(path: Path, row: int, takes: Takes, offset: int) -> int | None:
    """The row that is `offset` rows that are meant before the last; row: the last of the path."""
    while path is not None:
        if takes(path.name):
            if offset == 0:
                return row
            offset -= 1
        path, row = path.before, row - 1
    return None


def row_from_first(path: Path, row: int, takes: Takes, offset: int) -> int | None:
    names = mapped(path)
    first = row - len(names) + 1
    own = [first + at for at, name in enumerate(names) if takes(name)]
    return own[offset] if offset < len(own) else None
