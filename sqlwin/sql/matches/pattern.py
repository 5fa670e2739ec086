"""The text of PATTERN to a pattern.

>>> from sqlwin.errors import Span
>>> from sqlwin.patterns import spelled
>>> text = "a (b | c d)+? e{2,}"
>>> spelled(pattern(ast.Run(text, text, Span(1, 1))))
'a (b | c d)+? e{2,}'
"""

from __future__ import annotations

import re
from dataclasses import field
from itertools import permutations
from math import factorial

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.patterns import (
    MOST_REPEATS,
    AllRows,
    Choice,
    Excluded,
    Pattern,
    Repeat,
    Sequence,
    Start,
    Variable,
    contains,
    longest,
    shortest,
    variables,
)
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import unquoted

LEGAL = (
    "variables, ( ), |, PERMUTE(a, b), {- a -}, ^ at the start, and the quantifiers *, +, ?, {n}, "
    "{n,}, {n,m}, with ? for few: (a b+? c)"
)
_TOKEN = re.compile(
    r"""\s*(?:(?P<name>`(?:[^`]|``)+`|[^\W\d]\w*)
      | (?P<bounds>\{\s*(?P<least>\d*)\s*(?P<comma>,?)\s*(?P<most>\d*)\s*\})
      | (?P<sign>\{-|-\}|[*+?()|,^])
      | (?P<end>\Z)
      | (?P<other>.))""",
    re.VERBOSE | re.DOTALL,
)
_SIGNS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def pattern(run: ast.Run, all_rows: AllRows | None = None) -> Pattern:
    """QueryError where it is none, and where all_rows has no place for what it gives."""
    reader = _Reader(run, list(_TOKEN.finditer(run.text)))
    made = reader.choice()
    if reader.sign() is not None or not reader.ended:
        raise reader.unread()
    if not variables(made):
        raise QueryError("this pattern has no variable", run.span, legal="(a b*)")
    if shortest(made) == 0 and all_rows is None:
        message = "this pattern matches where there is no row"
        legal = "a variable that must be there: (a b*), or ALL ROWS PER MATCH"
        raise QueryError(message, run.span, legal=legal)
    if contains(made, Excluded) and all_rows in (None, AllRows.UNMATCHED):
        message = "an exclusion leaves rows out of ALL ROWS PER MATCH, without unmatched rows"
        raise QueryError(message, run.span, legal="ALL ROWS PER MATCH; the variable by itself: a")
    bound = longest(made)
    if _places(made) > MOST_REPEATS or (bound is not None and bound > MOST_REPEATS):
        raise _too_many(run.span)
    return made


def _too_many(span: Span) -> QueryError:
    message = f"this pattern has more than {MOST_REPEATS} places"
    return QueryError(message, span, legal="fewer repeats, or + with a COUNT(*) in DEFINE")


def _places(made: Pattern) -> int:
    """Variables, as often as quantifiers write them."""
    if isinstance(made, Variable | Start):
        return 1
    if isinstance(made, Excluded):
        return _places(made.part)
    if isinstance(made, Repeat):
        return _places(made.part) * (max(made.least, 1) if made.most is None else made.most)
    return sum(map(_places, made.parts))


@dataclass
class _Reader:
    """names: variables by their names in lower case, spelled as they were first."""

    run: ast.Run
    tokens: list[re.Match[str]]
    at: int = 0
    names: dict[str, str] = field(default_factory=dict)

    @property
    def token(self) -> re.Match[str]:
        return self.tokens[min(self.at, len(self.tokens) - 1)]

    @property
    def ended(self) -> bool:
        return self.token["end"] is not None

    def sign(self) -> str | None:
        return self.token["sign"]

    def choice(self) -> Pattern:
        parts = [self.sequence()]
        while self.sign() == "|":
            self.at += 1
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self) -> Pattern:
        parts: list[Pattern] = []
        while self.token["name"] is not None or self.sign() in ("(", "{-", "^"):
            parts.append(self.repeated())
        if not parts:
            raise self.unread()
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def repeated(self) -> Pattern:
        part = self.single()
        bounds = self.bounds()
        if bounds is None:
            return part
        reluctant = self.sign() == "?"
        self.at += reluctant
        return Repeat(part, *bounds, reluctant)

    def single(self) -> Pattern:
        name, sign = self.token["name"], self.sign()
        self.at += 1
        if name is not None:
            if name.upper() == "PERMUTE" and self.sign() == "(":
                return self.permuted()
            own = unquoted(name)
            return Variable(self.names.setdefault(own.lower(), own))
        if sign == "^":
            return Start()
        inner = self.choice()
        self.closed("-}" if sign == "{-" else ")")
        return Excluded(inner) if sign == "{-" else inner

    def closed(self, sign: str) -> None:
        if self.sign() != sign:
            what = "a bracket" if sign == ")" else "an exclusion {- -}"
            raise self.unread(f"{what} of the pattern is not closed")
        self.at += 1

    def permuted(self) -> Pattern:
        """PERMUTE(a, b): one after the other in any order, that in which they stand preferred."""
        start = self.token.end() - 1
        parts: list[Pattern] = []
        while not parts or self.sign() == ",":
            self.at += 1
            parts.append(self.choice())
        end = self.token.end()
        self.closed(")")
        if len(parts) * factorial(len(parts)) > MOST_REPEATS:
            raise _too_many(self.run.at(start, end))
        orders = [Sequence(order) for order in permutations(parts)]
        return Choice(tuple(orders)) if len(parts) > 1 else parts[0]

    def bounds(self) -> tuple[int, int | None] | None:
        """Of a quantifier, where one stands here."""
        token = self.token
        if token["bounds"] is None:
            found = _SIGNS.get(token["sign"] or "")
            self.at += found is not None
            return found
        least, most = token["least"], token["most"]
        exact = not token["comma"]
        low = int(least or 0)
        high = low if exact else int(most) if most else None
        if (
            (exact and not least)
            or (high is not None and high < max(low, 1))
            or (not least and not most)
        ):
            raise self.unread("this quantifier repeats nothing", "{2}, {2,}, {2,4}, {,4}")
        self.at += 1
        return low, high

    def unread(self, message: str = "", legal: str = LEGAL) -> QueryError:
        token = self.token
        start = token.end() - len(token[0].lstrip())
        said = message or (
            "the pattern ends too soon" if self.ended else _foreign(token[0].strip())
        )
        return QueryError(said, self.run.at(start, max(token.end(), start + 1)), legal=legal)


def _foreign(text: str) -> str:
    if text == "$":
        return "$ cannot stand in a pattern: of a stream the end of a partition is never known"
    return f"{text} cannot stand here in a pattern"
