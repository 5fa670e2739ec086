"""Calls of which Spark says that one of several rows has the answer, and not which one.

| call | any of |
|---|---|
| `mode(x)` | the most frequent values |
| `min_by(k, x)`, `max_by(k, x)` | the `k` of rows with the extreme of `x` |

sqlwin takes the first of them; another one that Spark gives is as good.

>>> rows = [{"x": 5, "k": 1, "w": True}, {"x": 5, "k": 2, "w": None}, {"x": 7, "k": 3, "w": True}]
>>> tied("min_by(k, x)", rows, 2, 1), tied("min_by(k, x)", rows, 3, 1)
(True, False)
>>> tied("mode(x)", rows, 5, 7), tied("mode(x) FILTER (WHERE w)", rows, 5, 7)
(False, True)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.functions.canonical import Json

FREQUENT = ("mode(x)", "mode(x, false)", "mode(w)")
EXTREME = ("min_by(k, x)", "max_by(k, x)", "min_by(k, k)")


def tied(call: str, rows: Sequence[dict[str, Json]], theirs: Json, ours: Json) -> bool:
    """Whether two answers are equally good. rows: of a group, in the form of `canonical`."""
    bare, _, where = call.partition(" FILTER ")
    taken = [row for row in rows if not where or row["w"] is True]
    if bare in FREQUENT:
        column = bare.partition("(")[2][0]
        values = [_alike(row[column]) for row in taken]
        return 0 < values.count(_alike(theirs)) == values.count(_alike(ours))
    if bare not in EXTREME:
        return False
    by = {row["k"]: _alike(row["x"]) for row in taken}
    return theirs in by and ours in by and by[theirs] == by[ours]


def _alike(value: Any) -> str:
    return json.dumps(value).replace('"-0.0"', '"0.0"')
