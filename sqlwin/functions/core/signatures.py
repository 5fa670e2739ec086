"""What a function takes and gives, written as `(ARRAY<T>, T, INT?) -> BOOLEAN`.

| written                      | takes                                                    |
|------------------------------|----------------------------------------------------------|
| `INT`, `DECIMAL(10, 2)`      | that type, or what is one of itself                      |
| `DECIMAL`                    | a decimal of any digits, or an integral number as one    |
| `ARRAY<p>`, `MAP<p, p>`      | those                                                    |
| `ARRAY`, `MAP`, `STRUCT`     | any of them, as it is                                    |
| `ANY`                        | anything, each for itself                                |
| `N`, `I`, `F`                | a number; TINYINT to BIGINT; FLOAT or DOUBLE             |
| `O`, `S`, `T U V K`          | what has an order; STRING or BINARY; anything            |
| `INTERVAL_YM`, `INTERVAL_DT` | an interval of those fields, or of some of them          |
| `p!`                         | a constant                                               |
| `p?`, `p...`                 | may be absent; any number of them, none too; both last   |
| `(p, p) => p`                | a lambda                                                 |

A letter, or one with a digit behind (`T2`), is the same type wherever it stands: the widest of
what is given. The result is written likewise, or computed (`Signature.result`).

>>> made = Signature.of("(ARRAY<T>, T) -> ARRAY<T>").match([pa.list_(pa.int32()), pa.int64()])
>>> [str(t) for t in made.wanted], str(made.result)
(['list<item: int64>', 'int64'], 'list<item: int64>')
>>> Signature.of("(INT) -> INT").match([pa.string()]) is None
True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field, replace

import pyarrow as pa

from sqlwin.functions.core.type_patterns import (
    ANY,
    CLASSES,
    CONCRETE,
    INTERVALS,
    Bound,
    Match,
    Pattern,
)
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Signature:
    """text: as it is written. least: how many arguments there have to be. many: the last pattern
    stands for any number of them. result: computes the type from those of the arguments, as
    they are wanted; else it is `gives`."""

    text: str
    takes: tuple[Pattern, ...]
    gives: Pattern | None
    least: int
    many: bool
    result: Callable[..., pa.DataType] | None = field(default=None, compare=False)

    @classmethod
    def of(cls, text: str, result: Callable[..., pa.DataType] | None = None) -> Signature:
        reader = _Reader(re.findall(r"=>|->|\.\.\.|\w+|[(),<>?!]", text))
        takes, least, many = reader.parameters()
        gives = reader.result()
        assert (gives is None) == (result is not None), text
        return cls(text, takes, gives, least, many, result)

    def patterns(self, count: int) -> tuple[Pattern, ...] | None:
        """One for each argument; None where there are too many or too few."""
        if count < self.least or (count > len(self.takes) and not self.many):
            return None
        more = max(0, count - len(self.takes))
        return (*self.takes[:count], *(self.takes[-1:] * more))

    def match(self, given: Sequence[pa.DataType | None], loose: bool = False) -> Match | None:
        """Of arguments' types, None for lambdas; None where they do not fit.

        Without lambdas the result is known; with them it is `resolved` when they are typed.
        """
        patterns = self.patterns(len(given))
        if patterns is None:
            return None
        bound: Bound = {}
        for pattern, type_ in zip(patterns, given, strict=True):
            if pattern.is_lambda != (type_ is None):
                return None
            if type_ is not None and not pattern.bind(type_, bound, loose):
                return None
        pairs = zip(patterns, given, strict=True)
        wanted = tuple(p.made(bound, t) if t is not None else None for p, t in pairs)
        found = Match(wanted, bound, None)
        return found if None in given else replace(found, result=self.resolved(found))

    def resolved(self, match: Match) -> pa.DataType:
        """The result's type, once every letter is bound."""
        if self.result is not None:
            return self.result(*match.wanted)
        assert self.gives is not None
        given = next((type_ for type_ in match.wanted if type_ is not None), None)
        return self.gives.made(match.bound, given)


@dataclass
class _Reader:
    words: list[str]
    at: int = 0

    def next(self, *wanted: str) -> str:
        word = self.words[self.at]
        assert not wanted or word in wanted, f"{word!r} in {' '.join(self.words)}"
        self.at += 1
        return word

    def takes(self, word: str) -> bool:
        found = self.at < len(self.words) and self.words[self.at] == word
        self.at += found
        return found

    def parameters(self) -> tuple[tuple[Pattern, ...], int, bool]:
        self.next("(")
        found: list[Pattern] = []
        least, many = 0, False
        while not self.takes(")"):
            found.append(self.pattern())
            if self.takes("..."):
                many = True
            elif not self.takes("?"):
                least = len(found)
            self.takes(",")
        return tuple(found), least, many

    def result(self) -> Pattern | None:
        return self.pattern() if self.takes("->") else None

    def pattern(self) -> Pattern:
        if self.takes("("):
            inner = [self.pattern()]
            while not self.takes(")"):
                self.next(",")
                inner.append(self.pattern())
            self.next("=>")
            return Pattern("=>", (*inner, self.pattern()))
        name = self.next()
        inner = []
        if name in ("ARRAY", "MAP") and self.takes("<"):
            inner.append(self.pattern())
            while self.takes(","):
                inner.append(self.pattern())
            self.next(">")
        type_ = CONCRETE.get(name)
        if name == "DECIMAL" and self.takes("("):
            precision, _, scale = self.next(), self.next(","), self.next()
            self.next(")")
            type_ = pa.decimal128(int(precision), int(scale))
        known = type_ is not None or name in INTERVALS
        known = known or name in ("ARRAY", "MAP", "STRUCT", "ANY", "DECIMAL")
        assert known or name[0] in ANY or name[0] in CLASSES, f"no such type: {name}"
        return Pattern(name, tuple(inner), type_, constant=self.takes("!"))
