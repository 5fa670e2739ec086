"""A script's text and message as an error shows them: without the secrets of its options.

`secrets.masked` hides what a script that can be bound keeps secret, and no more, for its text is
read again. An error shows a text with a mistake: quote signs of typeset text, brackets or `=` that
are missing, `pasword`. So here signs are read leniently, from CREATE, SET or WITH up to the query,
and within WITH a value is shown only of a name that is an option, and of no secret.

>>> shown("CREATE SINK s WITH user = 'me', pasword = \u2018hunter2\u2019")
"CREATE SINK s WITH user = 'me', pasword = '***'    "
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlwin.errors import QueryError
from sqlwin.plan.options.connectors import SINKS, STREAMS
from sqlwin.plan.options.elsewhere import OPTIONS, SINK_OPTIONS
from sqlwin.sql.text.typeset import DOUBLE_QUOTES, SINGLE_QUOTES, TYPESET
from sqlwin.system.secrets import MASK, blank, in_clear, is_secret, places

_SINGLE, _DOUBLE = f"'{SINGLE_QUOTES}", f'"{DOUBLE_QUOTES}'
_WORDS = re.compile(
    rf"""--[^\n]*|/\*(?!\+).*?\*/
      | (?P<value>:[A-Za-z_]\w*
          | [rR]?'(?:[^'\\]|\\.|'')*' | [rR]?"(?:[^"\\]|\\.|"")*" | `(?:[^`]|``)*`
          | [{SINGLE_QUOTES}][^\n]*?[{_SINGLE}] | [{DOUBLE_QUOTES}][^\n]*?[{_DOUBLE}]
          | [{_SINGLE}{_DOUBLE}`].*)
      | (?P<options>\b(?:WITH|OPTIONS)\b(?!\s+(?:LOCAL\s+)?TIME\b))
      | (?P<begins>\b(?:CREATE|SET)\b)
      | (?P<ends>\bSELECT\b|\*/)
      | [\w.$-]+ | [^\w\s]""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""A quote that is never closed reaches to the end."""
_QUOTES = f"{_SINGLE}{_DOUBLE}`"
_HARMLESS = {
    "connector",
    *OPTIONS,
    *SINK_OPTIONS,
    *(option.name for known in (STREAMS, SINKS) for each in known.values() for option in each),
}


def hidden(error: QueryError, source: str, start: int, end: int) -> QueryError:
    """The error with its text, and its message without what is masked in it.

    start, end: its place in `source`; what is no secret by its name is hidden only there, for
    a message may name a stream that has the name of a topic."""
    error.text = shown(source)
    hides = [(a, b) for a, b, secret in _places(source) if secret or (a < end and start < b)]
    values = [source[a:b].strip(_QUOTES) for a, b in hides]
    error.message, error.legal = (_without(text, values) for text in (error.message, error.legal))
    error.args = (error.message,)
    return error


def shown(source: str) -> str:
    """Every other character keeps its place."""
    text = source
    for start, end, _ in _places(source):
        value = source[start:end]
        text = text[:start] + (blank(value) if len(value) > 2 else "*" * len(value)) + text[end:]
    return text


def _without(text: str, values: list[str]) -> str:
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, MASK) if len(value) > len(MASK) else text
    return text


def _places(text: str) -> Iterator[tuple[int, int, bool]]:
    """Where values stand that are not shown, and whether their names say that they are secret."""
    yield from ((*place, True) for place in places(text) if text[place[0]] != ":")
    yield from _lenient(text)


def _lenient(text: str) -> Iterator[tuple[int, int, bool]]:
    within = options = equal = False
    name = last = ""
    for word in _WORDS.finditer(text):
        piece = TYPESET.get(word[0], word[0])
        if piece.startswith(("--", "/*")) or (last in ("=", ":") and piece in "=>"):
            continue
        if word["ends"] or piece == ";":
            within = options = equal = False
        elif word["options"] and not equal:
            within, options = True, True
        elif word["begins"] and not within:
            within = True
        elif piece in ("=", ":"):
            equal, name = True, last
        elif piece in (",", ")"):
            equal = False
        elif within and (equal or word["value"]):
            of = name if equal else last
            if _hides(of, piece, options):
                yield *word.span(), is_secret(of)
        last = piece.strip(_QUOTES)


def _hides(name: str, value: str, option: bool) -> bool:
    """option: whether the name is that of an option of WITH."""
    if value.startswith(":") or name in ("", "(", ","):
        return False
    if in_clear(name, value.strip(_QUOTES)):
        return True
    harmless = name.lower() in _HARMLESS or name.lower().startswith("state.")
    return option and not harmless and not is_secret(name)
