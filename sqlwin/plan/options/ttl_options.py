"""The options `state.ttl…` of WITH and SET: what each says of a TTL, and what is legal.

>>> cleanup("incremental(10, true); timers")
Cleanup(full_snapshot=False, incremental=10, each_record=True, compaction=False, timers=True)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from sqlwin.durations import micros
from sqlwin.errors import QueryError, Span
from sqlwin.policies import Cleanup, TtlTime, Update, Visibility

STATE = "state."
PREFIX = f"{STATE}ttl"
LEGAL_LENGTH = "'7 days', '12 h', or '0' for none"
LEGAL_CLEANUP = "full-snapshot, incremental(10, false), compaction, timers; several with ; between"

_INCREMENTAL = re.compile(r"incremental\s*\(\s*([1-9]\d*)\s*,\s*(true|false)\s*\)\Z")


def length(text: str) -> int:
    """Microseconds; 0: no TTL. ValueError for what is no duration, or a negative one."""
    found = 0 if text.strip().lower() in ("0", "none") else micros(text, None)
    if found < 0:
        raise ValueError("a TTL is not negative")
    return found


def cleanup(text: str) -> Cleanup:
    """ValueError for what is none."""
    given: dict[str, Any] = {}
    for part in text.split(";"):
        word = part.strip().lower()
        incremental = _INCREMENTAL.match(word)
        if incremental is not None:
            each = incremental[2] == "true"
            given |= {"incremental": int(incremental[1]), "each_record": each}
        elif word in ("full-snapshot", "compaction", "timers"):
            given[word.replace("-", "_")] = True
        else:
            raise ValueError(f"{part.strip()} is no cleanup of state")
    return Cleanup(**given)


def _words(words: type[Enum]) -> str:
    return ", ".join(word.value for word in words)


OPTIONS: Mapping[str, tuple[str, Callable[[str], Any], str]] = {
    PREFIX: ("length", length, LEGAL_LENGTH),
    f"{PREFIX}.time": ("time", TtlTime, _words(TtlTime)),
    f"{PREFIX}.update": ("update", Update, _words(Update)),
    f"{PREFIX}.visibility": ("visibility", Visibility, _words(Visibility)),
    f"{PREFIX}.cleanup": ("cleanup", cleanup, LEGAL_CLEANUP),
}
"""Name to the field of Ttl, how it is read, what is legal."""


ALIASES = {"table.exec.state.ttl": PREFIX}
"""What Flink calls a setting."""


def options(given: Mapping[str, str], span: Span | None = None) -> dict[str, Any]:
    """Fields of Ttl from options, those among them that are of a TTL."""
    found = {}
    for name, text in given.items():
        if name in OPTIONS:
            field, read, legal = OPTIONS[name]
            found[field] = valued(read, text, span, legal, name)
        elif name.startswith(STATE):
            raise QueryError(f"there is no option {name}", span, legal=", ".join(OPTIONS))
    return found


def valued(
    read: Callable[[str], Any], text: str, span: Span | None, legal: str, name: str = ""
) -> Any:
    try:
        return read(text)
    except ValueError as problem:
        message = f"{name} cannot be {text!r}" if isinstance(read, type) else str(problem)
        raise QueryError(message, span, legal=legal) from None
