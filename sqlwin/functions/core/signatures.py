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
from dataclasses import dataclass, field, replace

import pyarrow as pa

from sqlwin.functions.core.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DAY_TIME,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    SMALLINT,
    STRING,
    TINYINT,
    YEAR_MONTH,
    as_decimal,
    is_decimal,
    is_float,
    is_integral,
    is_interval,
    is_list,
    is_map,
    is_numeric,
    is_orderable,
    is_struct,
)
from sqlwin.functions.core.widening import implicit, widest
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

Bound = dict[str, pa.DataType]
"""Of each letter, the type it stands for so far."""
_CONCRETE: dict[str, pa.DataType] = {
    "BOOLEAN": BOOLEAN,
    "TINYINT": TINYINT,
    "SMALLINT": SMALLINT,
    "INT": INT,
    "BIGINT": BIGINT,
    "FLOAT": FLOAT,
    "DOUBLE": DOUBLE,
    "STRING": STRING,
    "BINARY": BINARY,
    "DATE": DATE,
    "TIMESTAMP": TIMESTAMP,
    "TIMESTAMP_NTZ": TIMESTAMP_NTZ,
    "VOID": NULL,
}
_INTERVALS = {"INTERVAL_YM": YEAR_MONTH, "INTERVAL_DT": DAY_TIME}
_CLASSES: dict[str, Callable[[pa.DataType], bool]] = {
    "N": is_numeric,
    "I": is_integral,
    "F": is_float,
    "O": is_orderable,
    "S": lambda type_: type_ in (STRING, BINARY),
}
_DEFAULTS = {"N": DOUBLE, "I": INT, "F": DOUBLE, "S": STRING}
"""What a NULL alone is taken for."""
_ANY = "TUVKAOB"


@dataclass(frozen=True)
class Pattern:
    """name: of a type, a letter, ARRAY, MAP, STRUCT, ANY or `=>`. inner: of nested ones; of a
    lambda its parameters and its result."""

    name: str
    inner: tuple[Pattern, ...] = ()
    type: pa.DataType | None = None
    constant: bool = False

    @property
    def is_lambda(self) -> bool:
        return self.name == "=>"

    @property
    def is_letter(self) -> bool:
        return re.fullmatch(r"[A-Z]\d?", self.name) is not None

    def bind(self, given: pa.DataType, bound: Bound, loose: bool) -> bool:
        """Whether a type may be given here; letters become as wide as it needs."""
        if self.type is not None:
            return implicit(given, self.type, loose)
        if self.is_letter:
            return self._bind_letter(given, bound, loose)
        if self.name == "STRUCT":
            return is_struct(given)
        if given == NULL or self.name == "ANY":
            return True
        if self.name == "DECIMAL":
            return is_decimal(given) or is_integral(given)
        if self.name in _INTERVALS:
            return is_interval(given) and given.whole == _INTERVALS[self.name]
        parts = _parts(given, self.name)
        if parts is None or not self.inner:
            return parts is not None
        return all(
            pattern.bind(part, bound, loose=False)
            for pattern, part in zip(self.inner, parts, strict=True)
        )

    def _bind_letter(self, given: pa.DataType, bound: Bound, loose: bool) -> bool:
        wide = widest(bound.get(self.name, NULL), given, loose)
        of_class = _CLASSES.get(self.name[0])
        if wide == STRING and of_class in (is_numeric, is_float) and loose:
            wide = DOUBLE
        if wide is None or (wide != NULL and of_class is not None and not of_class(wide)):
            return False
        bound[self.name] = wide
        return True

    def made(self, bound: Bound, given: pa.DataType | None = None) -> pa.DataType:
        """The type this stands for. given: what was passed, kept where nothing is wanted."""
        if self.type is not None:
            return self.type
        if self.is_letter:
            found = bound.get(self.name, NULL)
            return _DEFAULTS.get(self.name[0], NULL) if found == NULL else found
        if self.name in ("ARRAY", "MAP") and (self.inner or given == NULL):
            return self._nested([part.made(bound) for part in self.inner] or [NULL, NULL])
        if self.name in _INTERVALS:
            whole = _INTERVALS[self.name]
            kept = given is not None and is_interval(given) and given.whole == whole
            return given if kept else whole
        assert given is not None, f"{self.name} says nothing of a result"
        if self.name == "DECIMAL":
            return pa.decimal128(1, 0) if given == NULL else as_decimal(given)
        return given

    def _nested(self, parts: list[pa.DataType]) -> pa.DataType:
        """Arrow has no map whose keys are of no type: those of NULL are texts."""
        first, *rest = parts
        if self.name == "ARRAY":
            return pa.list_(first)
        return pa.map_(STRING if first == NULL else first, *rest)


def _parts(type_: pa.DataType, nested: str) -> tuple[pa.DataType, ...] | None:
    if nested == "ARRAY" and is_list(type_):
        return (type_.value_type,)
    if nested == "MAP" and is_map(type_):
        return (type_.key_type, type_.item_type)
    return None


@dataclass(frozen=True)
class Match:
    """wanted: what each argument has to become, None for a lambda. bound: of letters so far."""

    wanted: tuple[pa.DataType | None, ...]
    bound: Bound
    result: pa.DataType | None


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
        type_ = _CONCRETE.get(name)
        if name == "DECIMAL" and self.takes("("):
            precision, _, scale = self.next(), self.next(","), self.next()
            self.next(")")
            type_ = pa.decimal128(int(precision), int(scale))
        known = type_ is not None or name in _INTERVALS
        known = known or name in ("ARRAY", "MAP", "STRUCT", "ANY", "DECIMAL")
        assert known or name[0] in _ANY or name[0] in _CLASSES, f"no such type: {name}"
        return Pattern(name, tuple(inner), type_, constant=self.takes("!"))
