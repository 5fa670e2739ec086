"""Random policies: early, late, timeout and both retentions, all at once if drawn so."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from sqlwin.policies import Early, Late, Policy
from tests.properties.features import has

EARLY: list[dict[str, Any]] = [
    {"early": Early.ON_UPDATE},
    {"early": Early.EVERY, "early_period": 1},
    {"early": Early.EVERY, "early_period": 4},
    {"early": Early.ROWS, "early_rows": 2},
    {"early": Early.ROWS, "early_rows": 3},
    {"early": Early.EVERY, "early_period": 4, "early_rows": 2},
]
ONCE = [{**early, "early_once": True} for early in EARLY]
LATE: list[dict[str, Any]] = [
    {"late": Late.EVERY, "late_period": 1},
    {"late": Late.EVERY, "late_period": 3},
    {"late": Late.ON_UPDATE},
    {"late": Late.NEVER},
]
TIMEOUTS: list[dict[str, Any]] = [{"timeout": 2}, {"timeout": 5}]
RETAINED: list[dict[str, Any]] = [{"retain": 0}, {"retain": 3}, {"retain": 6}, {"retain": 1000}]
BY_ROWS: list[dict[str, Any]] = [
    {"retain": None, "retain_rows": 1},
    {"retain": None, "retain_rows": 3},
    {"retain": 4, "retain_rows": 2},
    {"retain": 4, "retain_rows": 6},
]


def policies() -> st.SearchStrategy[Policy]:
    """Of windows of event time."""
    kept = RETAINED + (BY_ROWS if has("rows") else [])
    kept += [{"retain": None}] if has("endless") else []
    return st.builds(_policy, st.sampled_from(kept), st.sampled_from(LATE), _firing(), _timeouts())


def discarding() -> st.SearchStrategy[Policy]:
    """Of windows of event time that are grouped: each emission holds what came since the last."""
    kept = RETAINED + ([{"retain": None}] if has("endless") else [])
    rest = st.sampled_from(LATE), _firing(), _timeouts(), st.just({"discards": True})
    return st.builds(_policy, st.sampled_from(kept), *rest)


def counted() -> st.SearchStrategy[Policy]:
    """Of windows of messages: none is late, and past ones are kept to be queried."""
    kept = [{"retain": 0}, {"retain": 0, "retain_rows": 3}]
    return st.builds(_policy, st.sampled_from(kept), _firing(), _timeouts())


def rankings() -> st.SearchStrategy[Policy]:
    """Of a first n, which is never full."""
    return st.builds(_policy, st.sampled_from(RETAINED), _early(), _timeouts())


def _policy(*parts: dict[str, Any]) -> Policy:
    return Policy(**{name: value for part in parts for name, value in part.items()})


def _early() -> st.SearchStrategy[dict[str, Any]]:
    return st.sampled_from([{}, {}, *(EARLY if has("early") else [])])


def _firing() -> st.SearchStrategy[dict[str, Any]]:
    """Of what becomes full, which may be emitted early but once."""
    return _early() | st.sampled_from(ONCE) if has("early") else _early()


def _timeouts() -> st.SearchStrategy[dict[str, Any]]:
    return st.sampled_from([{}, {}, {}, *(TIMEOUTS if has("timeout") else [])])
