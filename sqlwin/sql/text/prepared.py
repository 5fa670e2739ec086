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
import sys
from collections.abc import Mapping

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.options.settings import DOUBLE_QUOTED
from sqlwin.sql.text.typeset import TYPESET

QUOTED = (
    r"""(?<!\w)[rR](?:'[^']*'|"[^"]*")"""
    r"""|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`"""
)
"""A string, raw or not, or a name in quotes: what stands in it is no word of SQL."""

_TOKENS = re.compile(
    rf"""(?P<string>{QUOTED})
      | (?P<comment>--[^\n]*|/\*(?!\+).*?\*/)
      | (?P<open>/\*(?!\+))
      | (?P<cast>::)
      | (?P<digits>[0-9]{{1001}})
      | (?P<typeset>[{"".join(TYPESET)}])
      | (?<![\w:]):(?P<param>[A-Za-z_]\w*)""",
    re.VERBOSE | re.DOTALL,
)
_QUOTES = ("'", '"')
_NUMBER = re.compile(r"([+-]?)((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\Z")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([01][0-7]{2})|(.))", re.DOTALL)
_ESCAPES = {
    "0": "\0",
    "b": "\b",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "Z": "\x1a",
    "%": "\\%",
    "_": "\\_",
}


@dataclass(frozen=True)
class Prepared:
    """shifts: (place in `text` after a parameter's value, place in `source` after it)."""

    source: str
    text: str
    shifts: tuple[tuple[int, int], ...] = ()

    def located(self, error: QueryError) -> QueryError:
        """The same error with its place in the source, of which it shows no secret."""
        from sqlwin.sql.text.shown import hidden

        if error.span is None:
            return hidden(error, self.source, 0, 0)
        start = offset(self.text, error.span)
        end = self.original(start + error.span.length)
        start = self.original(start)
        if self.shifts:
            error.span = span(self.source, start, end)
        return hidden(error, self.source, start, end)

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
    """QueryError for a parameter without a value, and for signs that are none of SQL."""
    try:
        return _prepared(source, params)
    except QueryError as error:
        text = whole(source)
        raise Prepared(text, text).located(error) from None


def _prepared(source: str, params: Mapping[str, str]) -> Prepared:
    half = re.search("[\ud800-\udfff]", source)
    if half:
        place = span(source, half.start(), half.end())
        raise QueryError("half of a surrogate pair is no character", place)
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
    text = "".join([*out, source[done:]])
    if DOUBLE_QUOTED in text:
        from sqlwin.sql.text.double_quoted import as_names  # by need

        text = as_names(text)
    return Prepared(source, text, tuple(shifts))


def blanked(source: str) -> str:
    """Each token where it stands in the source: comments are blanks, and `:name` is a number.

    >>> blanked("LIMIT :most -- rows")
    'LIMIT 11111        '
    """

    def put(token: re.Match[str]) -> str:
        if token["param"]:
            return "1" * len(token[0])
        return re.sub(r"[^\n]", " ", token[0]) if token["comment"] else token[0]

    return _TOKENS.sub(put, source)


def commented(source: str) -> bool:
    """Whether it has a comment, or begins one; not what stands in a string.

    >>> commented("a -- all of it"), commented("a = '--'")
    (True, False)
    """
    return any(token["comment"] or token["open"] for token in _TOKENS.finditer(source))


def _replaced(source: str, token: re.Match[str], params: Mapping[str, str]) -> str:
    if token["comment"]:
        return re.sub(r"[^\n]", " ", token["comment"])
    place = span(source, token.start(), token.end())
    if token["digits"]:
        raise QueryError("a number has at most 1,000 digits", place, legal="1e1000")
    if token["typeset"]:
        plain = TYPESET[token["typeset"]]
        message = f"{token['typeset']} is of typeset text, and SQL has {plain}"
        raise QueryError(message, place, legal=plain)
    if token["open"]:
        raise QueryError("this comment is never closed", place, legal="/* … */")
    name = token["param"]
    if name not in params:
        known = ", ".join(f":{known}" for known in sorted(params)) or "none was given"
        raise QueryError(f"no value was given for :{name}", place, legal=known)
    before, after = source[: token.start()][-1:], source[token.end() :][:1]
    # Two strings with nothing between them are one, with a quote in it.
    return " " * (before in _QUOTES) + literal(params[name]) + " " * (after in _QUOTES)


def literal(value: str) -> str:
    """A number as it is, in brackets where `- :n` would make a comment of it; else a string."""
    number = _NUMBER.match(value)
    if number is None:
        return quoted(value)
    return f"(-{number[2]})" if number[1] == "-" else number[2]


def quoted(value: str) -> str:
    return "'" + whole(value).replace("\\", "\\\\").replace("'", "\\'") + "'"


def unquoted(text: str) -> str:
    """The value of a string, double-quoted text or backquoted name as written.

    A quote is written twice or behind a backslash; other escapes are Spark's.

    >>> unquoted("'it''s'"), unquoted(r"'\\u0041\\n'"), unquoted(r"r'\\n'")
    ("it's", 'A\\n', '\\\\n')
    """
    if text[:1] in ("r", "R") and text[1:2] in ("'", '"'):
        return text[2:-1]
    quote = text[:1]
    if quote not in ("'", '"', "`") or len(text) < 2:
        return text
    if quote == "`":
        return text[1:-1].replace("``", "`")
    pieces = re.split(r"(\\.)", text[1:-1], flags=re.DOTALL)
    inner = "".join(p if p[:1] == "\\" else p.replace(quote * 2, quote) for p in pieces)
    return whole(_ESCAPE.sub(_escape, inner))


def whole(text: str) -> str:
    """Pairs of surrogates as the one character they are; half of one is no text."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escape(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        return chr(int(code, 16)) if int(code, 16) <= sys.maxunicode else "\ufffd"
    return chr(int(match[3], 8)) if match[3] else _ESCAPES.get(match[4], match[4])
