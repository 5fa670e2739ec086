"""Secrets of connectors: referred to by where they are, hidden where they are written out.

A value of a WITH clause may name a variable of the environment or a file; it is looked up
when the source or the sink is opened, and is in no plan before.

>>> import os
>>> os.environ["SQLWIN_EXAMPLE"] = "hunter2"
>>> resolved("user ${env:SQLWIN_EXAMPLE}")
'user hunter2'

A value in clear of an option whose name says that it is secret is a `Secret`: whatever shows
it shows `***`, and plans that differ in it alone are one, so that it may be changed.

>>> ((_, value),) = hidden((("password", "hunter2"),))
>>> print(value, [value], f"{value}", clear(value))
*** ['***'] *** hunter2
>>> masked("CREATE SINK s WITH (user = 'me', password = 'hunter2')")
"CREATE SINK s WITH (user = 'me', password = '***'    )"
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from sqlwin.errors import RunError

MASK = "***"
Options = tuple[tuple[str, str], ...]
_SECRET = re.compile(
    r"passw|passphrase|secret|token|credential|private|sasl|jaas|api[._-]?key|access[._-]?key"
    r"|(^|[._-])(key|pwd)(\.pem)?$",
    re.IGNORECASE,
)
_IN_URL = re.compile(r"\w://[^/?#@\s]*:[^/?#@\s]+@|[?&]password=", re.IGNORECASE)
"""A URL with a password within."""
_REFERENCE = re.compile(r"\$\{(env|file):([^}]+)\}")
_QUOTED = (
    r"""(?<!\w)[rR](?:'[^']*'|"[^"]*")|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`"""
)
_WORDS = re.compile(
    rf"--[^\n]*|/\*(?!\+).*?\*/|{_QUOTED}"
    r"|(?P<open>\b(?:WITH|OPTIONS)(?:\s|--[^\n]*\n|/\*.*?\*/)*\()"
    r"|:?[\w.$-]+|[^\w\s]",
    re.IGNORECASE | re.DOTALL,
)


class Secret(str):
    """A text that shows nothing of itself; as any other it compares, hashes and is sent."""

    __slots__ = ()

    def __str__(self) -> str:
        return MASK

    def __repr__(self) -> str:
        return repr(MASK)

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)


def is_secret(option: str) -> bool:
    """Whether an option's name says that its value is nobody's business."""
    return _SECRET.search(option) is not None


def hidden(options: Options) -> Options:
    """Values in clear of secret options as Secrets; references stay as they are."""
    return tuple((name, _hidden(name, value)) for name, value in options)


def _hidden(name: str, value: str) -> str:
    return Secret(value) if in_clear(name, value) else value


def in_clear(name: str, value: str) -> bool:
    """Whether a value is a secret, or has one within, and is no reference to it."""
    if is_secret(name):
        return _REFERENCE.fullmatch(value) is None
    return _IN_URL.search(_REFERENCE.sub("", value)) is not None


def refers(value: str) -> bool:
    """Whether a value is to be looked up, in part or whole."""
    return _REFERENCE.search(value) is not None


def resolved(value: str) -> str:
    """With what its references refer to. RunError where there is no such thing."""
    return _REFERENCE.sub(lambda found: _looked_up(found[1], found[2]), clear(value))


def opened(options: Options) -> Options:
    """Options for whoever opens a source or a sink."""
    return tuple((name, _opened(name, value)) for name, value in options)


def _opened(name: str, value: str) -> str:
    found = resolved(value)
    return Secret(found) if is_secret(name) or in_clear(name, found) else found


def clear(value: str) -> str:
    """What a Secret is, for whoever it is for."""
    return "".join(iter(value))


def _looked_up(kind: str, name: str) -> str:
    if kind == "env":
        if name not in os.environ:
            raise RunError(f"the environment has no variable {name}, which ${{env:{name}}} names")
        return os.environ[name]
    try:
        return Path(name).read_text("utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as failure:
        why = type(failure).__name__
        raise RunError(f"the file that ${{file:{name}}} names cannot be read: {why}") from None


# --- in a script's text -----------------------------------------------------------------


def masked(text: str, in_place: bool = True) -> str:
    """The text without the secrets of its WITH clauses and of its hints OPTIONS.

    in_place: every other character keeps its place.
    """
    for start, end in reversed(list(places(text))):
        hidden_ = blank(text[start:end]) if in_place else f"'{MASK}'"
        text = text[:start] + hidden_ + text[end:]
    return text


def secrets_of(text: str) -> list[str]:
    """The values that `masked` hides, longest first."""
    found = {text[start:end].strip("'\"`") for start, end in places(text)}
    return sorted(found - {""}, key=len, reverse=True)


def blank(value: str) -> str:
    """A value masked, as wide and on as many lines."""
    width = len(value)
    if "\n" in value:
        return "'" + re.sub(r"[^\n]", "*", value[1:-1]) + "'"
    shown = f"'{MASK}'" if width >= len(MASK) + 2 else "'*'" if width >= 3 else "0"
    return shown.ljust(width)


def places(text: str) -> Iterator[tuple[int, int]]:
    """Where values of secret options stand, quotes and parameters included."""
    name, equal, within = "", False, False
    for word in _WORDS.finditer(text):
        piece = word[0]
        if piece.startswith(("--", "/*")):
            continue
        if word["open"]:
            name, equal, within = "", False, True
        elif within and piece in ("=", ",", ")"):
            equal, within = piece == "=", piece != ")"
            name = name if equal else ""
        elif within and equal:
            if in_clear(name, piece.strip("'\"")):
                yield word.span()
        elif within:
            name += piece.strip("'\"`")
