"""Windows of joins at each instant, and when DuckDB has the rows of each."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import strategies as st

from sqlwin.instants import SECOND

FOR_EVER = 2**60
KINDS = ("", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI")
"""Of joins; the first is an inner one."""
HALVES = ("SEMI", "ANTI")
Window = tuple[str, int, int]


def windows() -> st.SearchStrategy[Window]:
    """Of a kind, with a size, and how far it advances."""
    kinds = st.sampled_from(["RANGE", "SLIDE", "ROWS", "LAST", "STEPS"])
    return st.tuples(kinds, st.integers(0, 8), st.integers(1, 4))


def written(window: Window) -> str:
    kind, size, slide = window
    if kind == "RANGE":
        return f"[RANGE {size} SECONDS]"
    if kind == "SLIDE":
        return f"[RANGE {slide * (size % 3 + 1)} SECONDS SLIDE {slide} SECONDS]"
    by = "PARTITION BY k " * parted(window)
    if kind == "STEPS":
        return f"[{by}ROWS {slide + size % 3} SLIDE {slide}]"
    return f"[{by}ROWS {slide}]"


def parted(window: Window) -> bool:
    kind, size, _ = window
    return kind == "LAST" or (kind == "STEPS" and size % 2 == 1)


def stays(window: Window, stream: str = "s") -> str:
    """The rows of a stream with the instants at which they come, and have left."""
    kind, size, slide = window
    step = slide * SECOND
    if kind == "RANGE":
        lo, hi = "us", f"us + {size * SECOND + 1}"
    elif kind == "SLIDE":
        length = step * (size % 3 + 1)
        lo, hi = f"(us // {step} + 1) * {step}", f"((us + {length}) // {step} + 1) * {step}"
    else:
        every, rows = (slide, slide + size % 3) if kind == "STEPS" else (1, slide)
        lo, hi = (
            f"COALESCE(LEAD(us, ((n + {more} + {every - 1}) // {every} * {every} - n)::INT) "
            f"OVER w, {FOR_EVER})"
            for more in (0, rows)
        )
    by = "PARTITION BY k" * parted(window)
    numbered = f"""SELECT *, ts * {SECOND} AS us, ROW_NUMBER() OVER ({by} ORDER BY ts, id) AS n
        FROM {stream}"""
    return f"""(SELECT *, {lo} AS lo, {hi} AS hi FROM ({numbered})
        WINDOW w AS ({by} ORDER BY us, id))"""


def changed(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Of the relation at all instants, in their order, those at which it is another one.

    found: an instant and a row; or the instant alone, with NULLs, where the relation is empty.
    """
    by_instant: dict[int, list[tuple[Any, ...]]] = {}
    for instant, there, *row in found:
        by_instant.setdefault(instant, []).extend([tuple(row)] * bool(there))
    out, before = [], Counter[Any]()
    for instant, rows in sorted(by_instant.items()):
        if Counter(rows) != before:
            out += [(instant, *row) for row in rows]
        before = Counter(rows)
    return out
