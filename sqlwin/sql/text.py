"""Text before the grammar sees it: comments become blanks, parameters their values.

Comments keep their width, so places stay. A parameter `:name` is replaced by a
literal, never by SQL: a number as it is, anything else quoted; so it may change
the width of its line, and `Prepared.original` finds the place again.

>>> prepare("SELECT a -- all of it", {}).text
'SELECT a             '
>>> prepare("WHERE b = :b AND c = :c", {"b": "it's", "c": "1.5"}).text
"WHERE b = 'it\\\\'s' AND c = 1.5"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlwin.errors import QueryError, Span
from sqlwin.secrets import masked, secrets_of, without

QUOTED = r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`"""
"""A string or a name in quotes: what stands in it is no word of SQL."""

_TOKENS = re.compile(
    rf"""(?P<string>{QUOTED})
      | (?P<comment>--[^\n]*|/\*(?!\+).*?\*/)
      | (?P<open>/\*(?!\+))
      | (?P<cast>::)
      | (?<![\w:]):(?P<param>[A-Za-z_]\w*)""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?\Z")


@dataclass(frozen=True)
class Prepared:
    """shifts: (place in `text` after a parameter's value, place in `source` after it)."""

    source: str
    text: str
    shifts: tuple[tuple[int, int], ...] = ()

    def located(self, error: QueryError) -> QueryError:
        """The same error with its place in the source."""
        error.text = masked(self.source)
        error.message = without(error.message, secrets_of(self.source))
        if error.span is not None and self.shifts:
            start = offset(self.text, error.span)
            end = self.original(start + error.span.length)
            error.span = span(self.source, self.original(start), end)
        return error

    def original(self, at: int) -> int:
        moved = 0
        for here, there in self.shifts:
            if at >= here:
                moved = there - here
        return at + moved


def offset(text: str, place: Span) -> int:
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: place.line - 1]) + place.column - 1


def span(text: str, start: int, end: int) -> Span:
    """The span of characters `start` to `end`, cut at the end of the first line."""
    before = text[:start]
    length = len(text[start:end].split("\n")[0])
    return Span(before.count("\n") + 1, start - before.rfind("\n"), max(1, length))


def prepare(source: str, params: Mapping[str, str]) -> Prepared:
    out: list[str] = []
    shifts: list[tuple[int, int]] = []
    done = width = 0
    for token in _TOKENS.finditer(source):
        if token["string"] or token["cast"]:
            continue
        piece = _replaced(source, token, params)
        out += [source[done : token.start()], piece]
        width += token.start() - done + len(piece)
        done = token.end()
        if token["param"]:
            shifts.append((width, done))
    return Prepared(source, "".join([*out, source[done:]]), tuple(shifts))


def _replaced(source: str, token: re.Match[str], params: Mapping[str, str]) -> str:
    if token["comment"]:
        return re.sub(r"[^\n]", " ", token["comment"])
    place = span(source, token.start(), token.end())
    if token["open"]:
        raise QueryError("this comment is never closed", place, source, legal="/* … */")
    name = token["param"]
    if name not in params:
        known = ", ".join(f":{known}" for known in sorted(params)) or "none was given"
        raise QueryError(f"no value was given for :{name}", place, source, legal=known)
    return literal(params[name])


def literal(value: str) -> str:
    if _NUMBER.match(value):
        return value
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def unquoted(text: str) -> str:
    """The value of a string, double-quoted text or backquoted name as written."""
    quote = text[:1]
    if quote not in ("'", '"', "`") or len(text) < 2:
        return text
    inner = text[1:-1].replace(quote * 2, quote)
    return inner if quote == "`" else re.sub(r"\\(.)", _escape, inner, flags=re.DOTALL)


def _escape(match: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}.get(match[1], match[1])
