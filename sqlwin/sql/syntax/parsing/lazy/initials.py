"""The characters that a terminal may begin with, read from its regular expression.

>>> sorted(initials(r"SIZE\\b|(ADVANCE|,)\\s+BY\\b"))
[',', 'A', 'S']
>>> initials(r"A?B"), initials(r"[a-z]+"), initials(r"(?=x)y")
(None, None, None)
"""

from __future__ import annotations

from collections.abc import Iterator

Initials = frozenset[str] | None
"""None: any may be one, as far as is known here."""
_OPTIONAL = ("?", "*", "{")


def initials(regex: str) -> Initials:
    found: set[str] = set()
    for alternative in _alternatives(regex):
        first = _first(alternative)
        if first is None:
            return None
        found |= first
    return frozenset(found)


def _first(regex: str) -> Initials:
    if regex.startswith("(") and not regex.startswith("(?"):
        end = _end_of_group(regex)
        return None if regex[end + 1 :].startswith(_OPTIONAL) else initials(regex[1:end])
    escaped = regex.startswith("\\") and not regex[1:2].isalnum()
    first, rest = (regex[1:2], regex[2:]) if escaped else (regex[:1], regex[1:])
    literal = escaped or first.isalnum() or first in (",", "'", '"', "`", "-", "/")
    return None if not first or not literal or rest.startswith(_OPTIONAL) else frozenset(first)


def _alternatives(regex: str) -> Iterator[str]:
    """Of the whole of it, not of its groups."""
    begin = 0
    for at, depth, character in _structure(regex):
        if character == "|" and depth == 0:
            yield regex[begin:at]
            begin = at + 1
    yield regex[begin:]


def _end_of_group(regex: str) -> int:
    """The parenthesis that closes the one it begins with."""
    return next(at for at, depth, found in _structure(regex) if found == ")" and depth == 0)


def _structure(regex: str) -> Iterator[tuple[int, int, str]]:
    """Parentheses and bars with their place and the groups they are in, but for classes."""
    at = depth = 0
    while at < len(regex):
        character = regex[at]
        if character == "\\":
            at += 1
        elif character == "[":
            at = _end_of_class(regex, at)
        elif character in "()|":
            depth -= character == ")"
            yield at, depth, character
            depth += character == "("
        at += 1


def _end_of_class(regex: str, at: int) -> int:
    """A bracket that is its first character does not close it."""
    at += 2 if regex[at + 1 : at + 2] == "^" else 1
    at += 1 if regex[at : at + 1] == "]" else 0
    while regex[at] != "]":
        at += 2 if regex[at] == "\\" else 1
    return at
