"""EMIT and RETAIN in any make under which every row counts in the end."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.properties.features import has

EARLY = ["", "EARLY ON UPDATE", "EARLY EVERY 3 SECONDS", "EARLY EVERY 2 ROWS"]
BOTH, ONCE = "EARLY EVERY 3 SECONDS OR 2 ROWS", "EARLY EVERY 2 ROWS ONCE"
TIMEOUTS = ["", "ON CLOSE", "ON CLOSE TIMEOUT INTERVAL '3' SECOND"]
LATE = ["", "", "LATE ON UPDATE", "LATE EVERY 3 SECONDS"]
RETAINED = ["RETAIN INTERVAL '1' DAY", "RETAIN 100000 ROWS", "RETAIN 1 DAY OR 100000 ROWS"]


def timed() -> st.SearchStrategy[str]:
    """Of windows of event time."""
    return _timed(RETAINED if has("rows") else RETAINED[:1])


def by_hours() -> st.SearchStrategy[str]:
    """Of those whose rows have no key to be counted by."""
    return _timed(RETAINED[:1])


def discarding() -> st.SearchStrategy[str]:
    """The same, of which each emission holds what came since the last."""
    return by_hours().map(_discarding)


def _discarding(policies: str) -> str:
    emit, _, kept = policies.rpartition("\n")
    return f"{emit or 'EMIT'} DISCARDING\n{kept}"


@st.composite
def _timed(draw: st.DrawFn, retained: list[str]) -> str:
    kept = draw(st.sampled_from(retained))
    if has("early") and draw(st.integers(0, 9)) == 0:
        return f"EMIT CHANGES\n{kept}"
    return _emit(draw(_fired()), draw(_timeouts()), draw(st.sampled_from(LATE))) + kept


@st.composite
def counted(draw: st.DrawFn) -> str:
    """Of windows of messages."""
    once = st.just(ONCE) if has("early") else st.nothing()
    return _emit(draw(_fired() | once), draw(_timeouts()))


@st.composite
def ranked(draw: st.DrawFn) -> str:
    """Of a first n."""
    return _emit(draw(_early())) + RETAINED[0]


def _emit(*parts: str) -> str:
    policies = " ".join(part for part in parts if part)
    return f"EMIT {policies}\n" if policies else ""


def _early() -> st.SearchStrategy[str]:
    return st.sampled_from(EARLY if has("early") else [""])


def _fired() -> st.SearchStrategy[str]:
    return st.sampled_from([*EARLY, BOTH] if has("early") else [""])


def _timeouts() -> st.SearchStrategy[str]:
    return st.sampled_from(TIMEOUTS if has("timeout") else [""])
