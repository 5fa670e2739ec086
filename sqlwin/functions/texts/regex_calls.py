"""What functions of regular expressions share.

Invariant: a search has a time, which all rows of a call share; where RE2 and Java could differ
(`never_empty`), Java is followed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from sqlwin.functions.core.entry import Call
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import INT, STRING
from sqlwin.functions.core.vectors import Vector, by_value, vector
from sqlwin.functions.regex.matching import (
    Matcher,
    begin,
    matcher,
)

TEXTS = pa.list_(STRING)


def timed(name: str) -> Callable[[Callable[..., Any]], Vector]:
    """As `valued`: all rows of a call have its time together."""

    def made(compute: Callable[..., Any]) -> Vector:
        def all_of(result: pa.DataType, *arrays: pa.Array) -> pa.Array:
            begin()
            return by_value(compute, *arrays, type=result)

        return vector(name, typed=True)(all_of)

    return made


def constant(call: Call, at: int = 1) -> Matcher | None:
    """The pattern, where it is the same for all rows and Java takes it."""
    arg = call.args[at]
    if not isinstance(arg, Typed) or not isinstance(arg.value, str):
        return None
    try:
        return matcher(arg.value)
    except ValueError:
        return None


def called(vector_: Vector, call: Call, result: pa.DataType, *more: str) -> str:
    """With constants of INT for arguments that are not given."""
    types = [*map(call.type, range(len(call.args))), *([INT] * len(more))]
    return f"{vector_.named(types, result)}({', '.join([*call.texts, *more])})"


def never_empty(found: Matcher) -> bool:
    """Whether RE2 finds the same matches as Java, one after the other: no text matches emptily."""
    bounds = "\\b" in (found.how.re2 or "").lower()  # which match emptily beside a character alone
    return found.exact and not bounds and found.fast.search("") is None
