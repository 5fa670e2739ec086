"""`JOIN`, of two inputs that are text, and the streams of both.

>>> joined("`a`", "`b`", "a.n = b.n", "left", within="1 hour")
"`a` LEFT JOIN `b` WITHIN INTERVAL '1 hour' ON a.n = b.n"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from sqlwin.builder.text import Duration, duration, expression, listed
from sqlwin.errors import InputError
from sqlwin.plan.ir.nodes import Stream

How = Literal["inner", "left", "right", "full", "semi", "anti", "asof", "left asof"]
Within = Duration | tuple[Duration, Duration]


def joined(
    left: str,
    right: str,
    on: str,
    how: How = "inner",
    match: str | None = None,
    within: Within | None = None,
    grace: Duration | None = None,
) -> str:
    """See `QueryBuilder.join`."""
    if how not in get_args(How):
        raise InputError(f"{how!r} is no join; legal is {', '.join(get_args(How))}")
    parts = [left, f"{how.upper()} JOIN", right]
    parts += [] if match is None else [f"MATCH_CONDITION ({expression(match)})"]
    parts += _within(within, grace)
    return " ".join((*parts, f"ON {expression(on)}"))


def both(left: Mapping[str, Stream], right: Mapping[str, Stream]) -> dict[str, Stream]:
    """InputError where one name is of two streams."""
    known = {name.lower(): (name, stream) for name, stream in left.items()}
    for name, stream in right.items():
        if known.setdefault(name.lower(), (name, stream)) != (name, stream):
            raise InputError(f"{name} is the name of two different streams")
    return dict(known.values())


def _within(within: Within | None, grace: Duration | None) -> list[str]:
    if within is None:
        if grace is not None:
            raise InputError("a grace belongs to within")
        return []
    each = within if isinstance(within, tuple) else (within,)
    text = listed(map(duration, each))
    parts = [f"WITHIN ({text})" if len(each) > 1 else f"WITHIN {text}"]
    return parts if grace is None else [*parts, f"GRACE PERIOD {duration(grace)}"]
