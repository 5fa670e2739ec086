"""Replacements of Java's regular expressions, with the groups that they name.

>>> replaced("John Smith", r"(\\w+) (\\w+)", "$2, $1")
'Smith, John'

A match of no text may be in the middle of a character: see `matching`.

>>> replaced("\N{GRINNING FACE}", "x*", "-")
'-?-?-'
"""

from __future__ import annotations

import re

from sqlwin.functions.core.limits import check_bytes
from sqlwin.functions.regex.matching import joined, matcher
from sqlwin.functions.regex.translation import Translated


def replaced(text: str, pattern: str, replacement: str, position: int = 1) -> str:
    if position > max(1, len(text)):
        return text
    start = position - 1
    found = matcher(pattern)
    made, at = [text[:start]], 0
    (rest, matches), size = found.all(text[start:]), len(text)
    parts: list[str | int] | None = None
    for match in matches:
        if parts is None:
            parts = parts_of(replacement, found.how)
        put = "".join(part if isinstance(part, str) else match[part] or "" for part in parts)
        size += len(put)
        check_bytes(size)
        made += [rest[at : match.start()], put]
        at = match.end()
    return joined("".join([*made, rest[at:]]))


_PART = re.compile(
    r"\\(?P<plain>.)|\$(?P<digit>\d)|\$\{(?P<name>[A-Za-z][A-Za-z0-9]*)\}", re.DOTALL
)


def parts_of(replacement: str, how: Translated) -> list[str | int]:
    """Texts, and numbers of groups. ValueError where Java's `appendReplacement` fails."""
    parts: list[str | int] = []
    at = 0
    while at < len(replacement):
        if replacement[at] not in "\\$":
            parts.append(replacement[at])
            at += 1
            continue
        found = _PART.match(replacement, at)
        if found is None:
            raise _bad_replacement(replacement)
        at = found.end()
        if found["plain"] is not None:
            parts.append(found["plain"])
            continue
        number = how.names.get(found["name"], -1) if found["name"] else int(found["digit"])
        while found["digit"] and replacement[at : at + 1].isdigit():
            longer = 10 * number + int(replacement[at])
            if longer > how.groups:
                break
            number, at = longer, at + 1
        if not 0 <= number <= how.groups:
            raise _bad_replacement(replacement)
        parts.append(number)
    return parts


def _bad_replacement(replacement: str) -> ValueError:
    message = f"Could not perform regexp_replace with replacement {replacement[:200]!r}."
    return ValueError(f"[INVALID_REGEXP_REPLACE] {message}")
