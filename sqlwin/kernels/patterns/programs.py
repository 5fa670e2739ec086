"""A pattern as a program of a few instructions, for `attempts` to run.

    row v        the next row is mapped to variable v, if it fulfils its condition
    split a b    a is tried before b
    loop a b     likewise; b alone, once a round has taken no row
    jump a
    took a       goes on if a row was taken since the loop at a
    start        goes on only at the first row of a partition
    end

Invariant: of two ways to go on the one that SQL prefers is named first: earlier alternatives before
later ones, greedy quantifiers with more rows before fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlwin.patterns import Choice, Excluded, Pattern, Repeat, Start, Variable, shortest
from sqlwin.patterns import Sequence as InOrder

ROW, SPLIT, LOOP, JUMP, STOP, START, TOOK = range(7)
Program = tuple[tuple[Any, ...], ...]


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
    kind, heads = LOOP if shortest(repeat.part) == 0 else SPLIT, []
    for _ in range(repeat.most - repeat.least):
        heads.append(len(made))
        made.append(())
        _compile(repeat.part, made, hidden)
        if kind == LOOP:
            made.append((TOOK, heads[-1]))
    for head in heads:
        made[head] = (kind, *_ordered(head + 1, len(made), repeat.reluctant))


def _ordered(inside: int, behind: int, reluctant: bool) -> tuple[int, int]:
    return (behind, inside) if reluctant else (inside, behind)
