"""A pattern under way from left to right, and the pieces it has become so far."""

from __future__ import annotations

from dataclasses import field

from sqlwin.functions.regex.classes import BadPattern
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Flags:
    letters: frozenset[str] = frozenset()

    def __contains__(self, flag: str) -> bool:
        return flag in self.letters


@dataclass
class Reading:
    """out: pieces, each for `regex`, RE2, and RE2 of a test. plain: RE2 takes it. common, testable:
    see `translation.Translated`. letters: what it is made of, where it is nothing but letters."""

    pattern: str
    at: int = 0
    flags: Flags = field(default_factory=Flags)
    out: list[tuple[str, str, str]] = field(default_factory=list)
    groups: int = 0
    names: dict[str, int] = field(default_factory=dict)
    plain: bool = True
    common: bool = False
    testable: bool = True
    depth: int = 0
    letters: list[str] = field(default_factory=list)

    def peek(self, many: int = 1) -> str:
        return self.pattern[self.at : self.at + many]

    def take(self, text: str) -> bool:
        found = self.pattern.startswith(text, self.at)
        self.at += len(text) * found
        return found

    def next(self) -> str:
        if self.at >= len(self.pattern):
            raise BadPattern("Unexpected end of the pattern")
        self.at += 1
        return self.pattern[self.at - 1]

    def until(self, end: str) -> str:
        stop = self.pattern.find(end, self.at)
        if stop < 0:
            raise BadPattern(f"No {end} ends what begins at {self.at}")
        found, self.at = self.pattern[self.at : stop], stop + len(end)
        return found

    def put(self, text: str, re2: str | None = None, test: str | None = None) -> None:
        other = text if re2 is None else re2
        self.out.append((text, other, other if test is None else test))

    def only_regex(self, text: str) -> None:
        self.plain = False
        self.put(text)

    def blank(self) -> bool:
        if self.peek() == "#":
            self.at = (self.pattern + "\n").find("\n", self.at)
            return True
        if self.peek() in " \t\n\x0b\f\r":
            self.at += 1
            return True
        return False
