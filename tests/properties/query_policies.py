"""EMIT and RETAIN in any make under which every row counts in the end."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.properties.features import has

EARLY = ["", "EARLY ON UPDATE", "EARLY EVERY 3 SECONDS", "EARLY EVERY 2 ROWS"]
TIMEOUTS = ["", "ON CLOSE", "ON CLOSE TIMEOUT INTERVAL '3' SECOND"]
LATE = ["", "", "LATE ON UPDATE", "LATE EVERY 3 SECONDS"]
RETAINED = ["RETAIN INTERVAL '1' DAY", "RETAIN 100000 ROWS", "RETAIN 1 DAY OR 100000 ROWS"]


@st.composite
def timed(draw: st.DrawFn) -> str:
    """Of windows of event time."""
    if has("early") and draw(st.integers(0, 9)) == 0:
        return f"EMIT CHANGES\n{draw(_retained())}"
    parts = draw(_early()), draw(_timeouts()), draw(st.sampled_from(LATE))
    return _emit(*parts) + draw(_retained())


@st.composite
def counted(draw: st.DrawFn) -> str:
    """Of windows of messages."""
    return _emit(draw(_early()), draw(_timeouts()))


@st.composite
def ranked(draw: st.DrawFn) -> str:
    """Of a first n."""
    return _emit(draw(_early())) + RETAINED[0]


def _emit(*parts: str) -> str:
    told = " ".join(part for part in parts if part)
    return f"EMIT {told}\n" if told else ""


def _early() -> st.SearchStrategy[str]:
    return st.sampled_from(EARLY if has("early") else [""])


def _timeouts() -> st.SearchStrategy[str]:
    return st.sampled_from(TIMEOUTS if has("timeout") else [""])


def _retained() -> st.SearchStrategy[str]:
    return st.sampled_from(RETAINED if has("rows") else RETAINED[:1])
