"""What the random queries may hold. A feature that is not in FEATURES is not drawn.

`SQLWIN_FEATURES=early,sets` draws these only, `SQLWIN_FEATURES=all` every one there is.

| feature | is |
|---|---|
| `early`, `timeout` | EMIT EARLY …, ON CLOSE TIMEOUT |
| `rows` | RETAIN n ROWS |
| `discards` | DISCARDING |
| `endless` | a plan whose policy retains for ever |
| `cumulate`, `whole`, `sets` | CUMULATE, emitOnlyOnUpdate, GROUP BY alone, GROUPING SETS |
| `calendars` | windows of a calendar's periods, here of microseconds in UTC |
| `frames` | frames with any bounds |
| `exclude` | EXCLUDE |
| `orders` | keys behind event time in ORDER BY |
| `values` | aggregates that keep all values, DISTINCT, lists |
| `pairs` | COVAR, CORR, NTH_VALUE |
| `sketches` | approximate aggregates |
| `analytic` | LAG, LEAD, RANK … |
| `qualify`, `top`, `ranks` | QUALIFY, the first n of each key, the first n groups of each window |
| `sessions` | session windows |
| `chains` | queries over the results of queries, UNION ALL |
| `replays` | messages that come twice, recognised by OFFSET |
| `ttl` | a TTL of the state, of either time, with every update, visibility and cleanup |
"""

from __future__ import annotations

import os
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")
WORDS = """early timeout rows endless cumulate calendars whole sets frames exclude orders values
pairs sketches analytic qualify top ranks replays sessions chains ttl discards"""
ALL = frozenset(WORDS.split())
LANDED: frozenset[str] = ALL


def _case() -> frozenset[str]:
    text = os.environ.get("SQLWIN_FEATURES", "")
    return LANDED if not text else ALL if text == "all" else frozenset(text.split(","))


FEATURES = _case()


def has(feature: str) -> bool:
    assert feature in ALL, feature
    return feature in FEATURES


def one_of(always: list[T], **by_feature: list[T]) -> st.SearchStrategy[T]:
    """One of what there always is, and of what the features add."""
    return st.sampled_from(
        [*always, *(x for f, more in by_feature.items() if has(f) for x in more)]
    )
