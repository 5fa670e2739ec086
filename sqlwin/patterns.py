"""Row patterns: what PATTERN says, what AFTER MATCH says, and what is read of the rows of a match.

>>> many = Repeat(Variable("b"), 1, None)
>>> pattern = Sequence((Variable("a"), many, Choice((Variable("c"), Variable("a")))))
>>> variables(pattern), shortest(pattern), longest(pattern)
(('a', 'b', 'c'), 3, None)
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from sqlwin.added import ADDED
from sqlwin.lazy_dataclass import dataclass

MOST_REPEATS = 1_000
"""Of a quantifier with numbers: each repeat is a place in the pattern."""


@dataclass(frozen=True)
class Variable:
    """One row, for which the condition of the variable is true."""

    name: str


@dataclass(frozen=True)
class Sequence:
    """One after the other."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Choice:
    """The first of them that leads to a match."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Repeat:
    """most: None without bound. reluctant: as few as lead to a match, else as many."""

    part: Pattern
    least: int
    most: int | None
    reluctant: bool = False

    def __post_init__(self) -> None:
        if self.least < 0 or (self.most is not None and self.most < max(self.least, 1)):
            raise ValueError(f"need 0 <= least <= most, and most at least 1: {self}")


@dataclass(frozen=True)
class Excluded:
    """`{- part -}`: its rows are of the match, and ALL ROWS PER MATCH leaves them out."""

    part: Pattern


@dataclass(frozen=True)
class Start:
    """`^`: no row, before the first row of a partition."""


Pattern = Variable | Sequence | Choice | Repeat | Excluded | Start


def variables(pattern: Pattern) -> tuple[str, ...]:
    """In the order in which they are written, each once."""
    if isinstance(pattern, Variable):
        return (pattern.name,)
    if isinstance(pattern, Start):
        return ()
    if isinstance(pattern, Repeat | Excluded):
        return variables(pattern.part)
    return tuple(dict.fromkeys(name for part in pattern.parts for name in variables(part)))


def shortest(pattern: Pattern) -> int:
    """How many rows a match has at least."""
    if isinstance(pattern, Variable | Start):
        return int(isinstance(pattern, Variable))
    if isinstance(pattern, Excluded):
        return shortest(pattern.part)
    if isinstance(pattern, Repeat):
        return pattern.least * shortest(pattern.part)
    return (sum if isinstance(pattern, Sequence) else min)(map(shortest, pattern.parts))


def longest(pattern: Pattern) -> int | None:
    """How many rows a match has at most; None without bound."""
    if isinstance(pattern, Variable | Start):
        return int(isinstance(pattern, Variable))
    if isinstance(pattern, Excluded):
        return longest(pattern.part)
    if isinstance(pattern, Repeat):
        part = longest(pattern.part)
        return None if part is None or pattern.most is None else part * pattern.most
    parts = [longest(part) for part in pattern.parts]
    known = [length for length in parts if length is not None]
    if len(known) < len(parts):
        return None
    return sum(known) if isinstance(pattern, Sequence) else max(known)


def begins(pattern: Pattern) -> frozenset[str]:
    """The variables that the first row of a match may be mapped to."""
    if isinstance(pattern, Variable):
        return frozenset((pattern.name,))
    if isinstance(pattern, Start):
        return frozenset()
    if isinstance(pattern, Repeat | Excluded):
        return begins(pattern.part)
    made: frozenset[str] = frozenset()
    for part in pattern.parts:
        made |= begins(part)
        if isinstance(pattern, Sequence) and shortest(part) > 0:
            break
    return made


def contains(pattern: Pattern, kind: type[Excluded] | type[Start]) -> bool:
    """Whether a part of it is an exclusion, or an anchor."""
    if isinstance(pattern, kind):
        return True
    if isinstance(pattern, Repeat | Excluded):
        return contains(pattern.part, kind)
    return not isinstance(pattern, Variable | Start) and any(
        contains(part, kind) for part in pattern.parts
    )


def spelled(pattern: Pattern) -> str:
    """
    >>> spelled(Sequence((Variable("a"), Repeat(Choice((Variable("b"), Variable("c"))), 2, 3))))
    'a (b | c){2,3}'
    """
    if isinstance(pattern, Variable | Start):
        return pattern.name if isinstance(pattern, Variable) else "^"
    if isinstance(pattern, Excluded):
        return f"{{- {spelled(pattern.part)} -}}"
    if isinstance(pattern, Repeat):
        part = spelled(pattern.part)
        inner = part if isinstance(pattern.part, Variable | Excluded) else f"({part})"
        return f"{inner}{_quantifier(pattern)}{'?' * pattern.reluctant}"
    if isinstance(pattern, Choice):
        return " | ".join(spelled(part) for part in pattern.parts)
    parts = [(spelled(part), isinstance(part, Choice)) for part in pattern.parts]
    return " ".join(f"({part})" if choice else part for part, choice in parts)


def _quantifier(repeat: Repeat) -> str:
    signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    bounds = (repeat.least, repeat.most)
    if bounds in signs:
        return signs[bounds]
    if repeat.least == repeat.most:
        return f"{{{repeat.least}}}"
    return f"{{{repeat.least},{'' if repeat.most is None else repeat.most}}}"


class Skip(Enum):
    """Where the next match is looked for."""

    PAST_LAST_ROW = "past last row"
    NEXT_ROW = "to next row"
    FIRST = "to first"
    LAST = "to last"


class AllRows(Enum):
    """Which rows ALL ROWS PER MATCH gives besides those that are mapped."""

    SHOW_EMPTY = "empty matches are shown"
    OMIT_EMPTY = "empty matches are omitted"
    UNMATCHED = "with unmatched rows"


@dataclass(frozen=True)
class AfterMatch:
    """variable: of FIRST and LAST. members: of a SUBSET of that name."""

    skip: Skip = Skip.PAST_LAST_ROW
    variable: str | None = None
    members: tuple[str, ...] = field(default=(), repr=False, metadata=ADDED)

    def __post_init__(self) -> None:
        if (self.variable is not None) != (self.skip in (Skip.FIRST, Skip.LAST)):
            raise ValueError(f"a variable goes with TO FIRST and TO LAST: {self}")

    def takes(self, name: str) -> bool:
        return name == self.variable or name in self.members


@dataclass(frozen=True)
class Navigation:
    """A value of one row of a match so far: `column` of the row that is `offset` rows of the
    variable from its last, or its first, and `back` rows of the partition before that.

    variable: None: any. column: None: the name of the variable that the row is mapped to. members:
    the variables of a SUBSET of that name. final: of the whole match, and not of it so far.
    """

    name: str
    column: str | None
    variable: str | None = None
    first: bool = False
    offset: int = 0
    back: int = 0
    members: tuple[str, ...] = field(default=(), repr=False, metadata=ADDED)
    final: bool = field(default=False, repr=False, metadata=ADDED)

    def takes(self, name: str) -> bool:
        """Whether rows that are mapped to the variable `name` are meant."""
        return self.variable is None or name == self.variable or name in self.members

    def of_row(self, variable: str) -> bool:
        """Whether it is a value of the row that is being mapped to `variable`, or of one before
        it, whatever the match is."""
        return (
            self.takes(variable) and not self.first and self.offset == 0 and self.column is not None
        )
