"""The text of PATTERN to a pattern.

>>> from sqlwin.errors import Span
>>> from sqlwin.patterns import spelled
>>> text = "a (b | c d)+? e{2,}"
>>> spelled(pattern(ast.Run(text, text, Span(1, 1))))
'a (b | c d)+? e{2,}'
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlwin.errors import QueryError
from sqlwin.patterns import (
    MOST_REPEATS,
    Choice,
    Pattern,
    Repeat,
    Sequence,
    Variable,
    longest,
    shortest,
)
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import unquoted

LEGAL = (
    "variables, ( ), |, and the quantifiers *, +, ?, {n}, {n,}, {n,m}, with ? for few: (a b+? c)"
)
_TOKEN = re.compile(
    r"""\s*(?:(?P<name>`(?:[^`]|``)+`|[^\W\d]\w*)
      | (?P<bounds>\{\s*(?P<least>\d*)\s*(?P<comma>,?)\s*(?P<most>\d*)\s*\})
      | (?P<sign>[*+?()|])
      | (?P<end>\Z)
      | (?P<other>.))""",
    re.VERBOSE | re.DOTALL,
)
_SIGNS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def pattern(run: ast.Run) -> Pattern:
    """QueryError where it is none, and for one that no row makes a match of."""
    reader = _Reader(run, list(_TOKEN.finditer(run.text)))
    made = reader.choice()
    if reader.sign() is not None or not reader.ended:
        raise reader.unread()
    if shortest(made) == 0:
        message = "this pattern matches where there is no row"
        raise QueryError(message, run.span, legal="a variable that must be there: (a b*)")
    bound = longest(made)
    if _places(made) > MOST_REPEATS or (bound is not None and bound > MOST_REPEATS):
        message = f"this pattern has more than {MOST_REPEATS} places"
        raise QueryError(message, run.span, legal="fewer repeats, or + with a COUNT(*) in DEFINE")
    return made


def _places(made: Pattern) -> int:
    """Variables, as often as quantifiers write them."""
    if isinstance(made, Variable):
        return 1
    if isinstance(made, Repeat):
        return _places(made.part) * (max(made.least, 1) if made.most is None else made.most)
    return sum(map(_places, made.parts))


@dataclass
class _Reader:
    run: ast.Run
    tokens: list[re.Match[str]]
    at: int = 0

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
        while self.token["name"] is not None or self.sign() == "(":
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
        name = self.token["name"]
        self.at += 1
        if name is not None and not (name.upper() == "PERMUTE" and self.sign() == "("):
            return Variable(unquoted(name))
        if name is not None:
            self.at -= 1
            raise self.unread("PERMUTE is not supported yet", "(a b | b a)")
        inner = self.choice()
        if self.sign() != ")":
            raise self.unread("a bracket of the pattern is not closed")
        self.at += 1
        return inner

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
    words = {"^": "an anchor", "$": "an anchor", "{": "an exclusion {- -}"}
    if text in words:
        return f"{words[text]} is not supported in a pattern yet"
    return f"{text} cannot stand here in a pattern"
