"""Paths of SQL/JSON: `$.a.b`, `$['a b']`, `$.a[0]`, `$.a[*].b`, `$.*`, each `lax` or `strict`.

A strict path (the default, as in Flink SQL) fails where the value has nothing of a step; a lax one
then finds nothing. Behind a star a path finds what those have that have it; what it finds is an
array then, and no array of one is unwrapped.

>>> path = parsed("$.a[*].b")
>>> path.strict, path.steps, path.many
(True, ('a', <Star.ITEMS: '[*]'>, 'b'), True)
>>> found(read('{"a": [{"b": 1}, {"c": 2}, {"b": "x"}]}'), path)
['1', 'x']
>>> found(read('{"a": 1}'), parsed("lax $.b")) is NOTHING
True
>>> found(read('{"a": 1}'), parsed("$.b"))
Traceback (most recent call last):
sqlwin.functions.json.sql_path.Missing: [JSON_PATH_ERROR] $.b: there is no 'b'
"""

from __future__ import annotations

import enum
import re
from functools import lru_cache
from typing import Any, Final

from sqlwin.functions.json.documents import read as read
from sqlwin.lazy_dataclass import dataclass

NOTHING: Final = object()
"""What a lax path finds where there is nothing."""
LEGAL = "$.name, $['a name'], $.tags[0], $.tags[*].name, lax $.name, strict $.name"
_MODE = re.compile(r"\s*(lax|strict)\s+(?=\$)", re.IGNORECASE)
_STEP = re.compile(
    r"""\s*(?: \.\s*(?P<members>\*) | \[\s*(?P<items>\*)\s*\] | \[\s*(?P<index>\d+)\s*\]
        | (?:\.\s*)?\[\s*'(?P<single>(?:[^'\\]|\\.)*)'\s*\]
        | (?:\.\s*)?\[\s*"(?P<double>(?:[^"\\]|\\.)*)"\s*\]
        | \.\s*"(?P<quoted>(?:[^"\\]|\\.)*)" | \.\s*(?P<name>[^\s.\[\]"'()?*@,:$]+) )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class Missing(ValueError):
    """A strict path finds no value."""


class Star(enum.Enum):
    ITEMS = "[*]"
    MEMBERS = ".*"


Step = str | int | Star


@dataclass(frozen=True)
class Path:
    """text: as it is written. many: it has a star."""

    text: str
    steps: tuple[Step, ...]
    strict: bool = True

    @property
    def many(self) -> bool:
        return any(isinstance(step, Star) for step in self.steps)


@lru_cache(maxsize=1024)
def parsed(text: str) -> Path | None:
    """None where it is no path."""
    mode = _MODE.match(text)
    at = mode.end() if mode else len(text) - len(text.lstrip())
    if text[at : at + 1] != "$":
        return None
    steps, at = list[Step](), at + 1
    while text[at:].strip():
        step = _STEP.match(text, at)
        if step is None:
            return None
        steps.append(_step(step))
        at = step.end()
    return Path(text, tuple(steps), mode is None or mode[1].lower() == "strict")


def _step(found: re.Match[str]) -> Step:
    kind = str(found.lastgroup)
    text = found[kind]
    if kind in ("members", "items"):
        return Star.MEMBERS if kind == "members" else Star.ITEMS
    if kind == "index":
        return int(text)
    return text if kind == "name" else _ESCAPE.sub(r"\1", text)


def found(value: Any, path: Path) -> Any:
    """One value, or a list of all where the path has a star; NOTHING, or Missing where strict."""
    for at, step in enumerate(path.steps):
        if isinstance(step, Star):
            return _all(value, path, at)
        value = _of(value, step)
        if value is NOTHING:
            return _nothing(path, step)
    return value


def _of(value: Any, step: str | int) -> Any:
    if isinstance(step, str):
        return value.get(step, NOTHING) if type(value) is dict else NOTHING
    return value[step] if type(value) is list and step < len(value) else NOTHING


def _all(value: Any, path: Path, at: int) -> Any:
    if type(value) not in _HOLDING[path.steps[at]]:
        return _nothing(path, path.steps[at])
    values = [value]
    for step in path.steps[at:]:
        if isinstance(step, Star):
            values = [part for each in values for part in _parts(each, step)]
        else:
            values = [part for each in values if (part := _of(each, step)) is not NOTHING]
    return values


_HOLDING: dict[Any, tuple[type, ...]] = {Star.ITEMS: (list,), Star.MEMBERS: (dict,)}


def _parts(value: Any, star: Star) -> Any:
    if type(value) not in _HOLDING[star]:
        return ()
    return value if type(value) is list else value.values()


def _nothing(path: Path, step: Step) -> Any:
    if path.strict:
        what = (
            f"there is no {step!r}" if not isinstance(step, Star) else f"nothing has {step.value}"
        )
        raise Missing(f"[JSON_PATH_ERROR] {path.text}: {what}")
    return NOTHING
