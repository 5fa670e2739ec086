"""A text of JSON as tokens, one at a time, as Jackson reads it for Spark.

What is wrong with a text is found where a token is asked for, and not before: behind the value
that is looked for it may be anything. A text may have single quotes.

>>> tokens = Tokens("{'a': [1.50, null]} and more")
>>> [tokens.next() for _ in range(7)]
['{', 'name', '[', 'float', 'null', ']', '}']
>>> tokens.next()
Traceback (most recent call last):
sqlwin.functions.json.tokens.Malformed: no JSON at 20
"""

from __future__ import annotations

import re
from dataclasses import field

from sqlwin.lazy_dataclass import dataclass

NAME, STRING, INTEGER, FLOAT = "name", "string", "integer", "float"
WORDS = ("true", "false", "null")
DEPTH, DIGITS = 1000, 1000
"""Jackson's limits: of brackets in brackets, and of a number's length."""
_SPACE = re.compile(r"[ \t\n\r]*")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n\r]*", re.DOTALL)
_NUMBER = re.compile(r"-?(\d+)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_ODD_NUMBER = re.compile(r"NaN|[+-]?INF(?!\w)|[+-]?Infinity")
_WORD = re.compile(r"true|false|null")
_PLAIN = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_UNQUOTED = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_CONTROL = re.compile(r"[\x00-\x1f]")
_PAIR = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")
_ALONE = re.compile(r"[\ud800-\udfff]")


class Malformed(ValueError):
    """It is no JSON."""


@dataclass(frozen=True)
class Syntax:
    """What is taken beside JSON itself."""

    single_quotes: bool = True
    control: bool = True
    odd_numbers: bool = False
    unquoted_names: bool = False
    leading_zeros: bool = False
    any_escape: bool = False
    comments: bool = False


@dataclass
class Tokens:
    """token: the one at which it is, None before the first and behind the last. text: of a name,
    a string or a number. names: of the field each object is at, outermost
    first. used: whether each has a value already."""

    source: str
    syntax: Syntax = field(default_factory=Syntax)
    token: str | None = None
    text: str = ""
    at: int = 0
    around: list[str] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    used: list[bool] = field(default_factory=list)
    failed: bool = False

    @property
    def name(self) -> str | None:
        """Of the field it is in; None within an array, or at its start."""
        return self.names[-1] if self.names else None

    def next(self) -> str | None:
        """Malformed where there is none, each time from then on."""
        if self.failed:
            raise Malformed("no JSON")
        try:
            self.token = self._next()
        except Malformed:
            self.failed = True
            raise
        return self.token

    def skip(self) -> None:
        """To the end of the array or object that begins here, if one does."""
        if self.token not in ("{", "["):
            return
        depth = len(self.around)
        while len(self.around) >= depth:
            if self.next() is None:
                raise self._wrong()

    def _next(self) -> str | None:
        self._space()
        if self.at == len(self.source):
            if self.around:
                raise self._wrong()
            return None
        letter = self.source[self.at]
        if not self.around or self.token == NAME:
            return self._value(letter)
        inside = self.around[-1]
        if letter == {"{": "}", "[": "]"}[inside]:
            return self._end(letter)
        if self.used[-1]:
            self._take(",")
            letter = self._peek()
        self.used[-1] = True
        return self._named(letter) if inside == "{" else self._value(letter)

    def _end(self, letter: str) -> str:
        for stack in (self.around, self.names, self.used):
            stack.pop()
        self.at += 1
        return letter

    def _take(self, letter: str) -> None:
        if self.source[self.at : self.at + 1] != letter:
            raise self._wrong()
        self.at += 1
        self._space()

    def _peek(self) -> str:
        if self.at == len(self.source):
            raise self._wrong()
        return self.source[self.at]

    def _space(self) -> None:
        self.at = _SPACE.match(self.source, self.at).end()  # type: ignore[union-attr]
        while self.syntax.comments and self.source.startswith("/", self.at):
            found = _COMMENT.match(self.source, self.at)
            if found is None:
                raise self._wrong()
            self.at = _SPACE.match(self.source, found.end()).end()  # type: ignore[union-attr]

    def _named(self, letter: str) -> str:
        if letter == '"' or (letter == "'" and self.syntax.single_quotes):
            self.text = self._string(letter)
        else:
            found = _UNQUOTED.match(self.source, self.at) if self.syntax.unquoted_names else None
            if found is None:
                raise self._wrong()
            self.text, self.at = found[0], found.end()
        self._space()
        self._take(":")
        self.names[-1] = self.text
        return NAME

    def _value(self, letter: str) -> str:
        if letter in "{[":
            self.around.append(letter)
            self.names.append(None)
            self.used.append(False)
            if len(self.around) > DEPTH:
                raise self._wrong()
            self.at += 1
            return letter
        if letter == '"' or (letter == "'" and self.syntax.single_quotes):
            self.text = self._string(letter)
            return STRING
        word = _WORD.match(self.source, self.at)
        if word is not None:
            return self._plain(word, word[0])
        return self._number()

    def _number(self) -> str:
        odd = _ODD_NUMBER.match(self.source, self.at) if self.syntax.odd_numbers else None
        if odd is not None:
            return self._plain(odd, FLOAT)
        found = _NUMBER.match(self.source, self.at)
        if found is None:
            raise self._wrong()
        whole = found[1]
        if len(found[0]) > DIGITS:
            raise self._wrong()
        if len(whole) > 1 and whole[0] == "0" and not self.syntax.leading_zeros:
            raise self._wrong()
        return self._plain(found, FLOAT if found[2] or found[3] else INTEGER)

    def _plain(self, found: re.Match[str], token: str) -> str:
        """A word or a number, which does not go on."""
        behind = self.source[found.end() : found.end() + 1]
        if behind and (behind.isalnum() or behind in "_$.+-") and behind not in ",]}":
            raise self._wrong()
        self.text, self.at = found[0], found.end()
        return token

    def _string(self, quote: str) -> str:
        plain, parts, at = _PLAIN[quote], list[str](), self.at + 1
        while True:
            found = plain.match(self.source, at)
            assert found is not None
            parts.append(found[0])
            at = found.end()
            if at >= len(self.source):
                raise self._wrong()
            if self.source[at] == quote:
                break
            part, at = self._escape(at + 1)
            parts.append(part)
        if not self.syntax.control and _CONTROL.search(self.source, self.at, at):
            raise self._wrong()
        self.at = at + 1
        made = "".join(parts)
        return made if made.isascii() else _whole(made)

    def _escape(self, at: int) -> tuple[str, int]:
        letter = self.source[at : at + 1]
        if letter == "u":
            found = _HEX.match(self.source, at + 1)
            if found is None:
                raise self._wrong()
            return chr(int(found[0], 16)), found.end()
        odd = self.syntax.any_escape or (letter == "'" and self.syntax.single_quotes)
        known = _ESCAPED.get(letter) or (letter if odd else None)
        if not known:
            raise self._wrong()
        return known, at + 1

    def _wrong(self) -> Malformed:
        return Malformed(f"no JSON at {self.at}")


def _whole(text: str) -> str:
    """With each two surrogates as the character they are, and one alone as a question mark."""
    joined = _PAIR.sub(
        lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text
    )
    return _ALONE.sub("?", joined)
