"""The table of window functions: the arguments of each, and which window it makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlwin.errors import Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import aligned
from sqlwin.windows.group import GroupWindow

ONLY_ON_UPDATE = "emitonlyonupdate"
"""Flink's name of the place whose argument is TRUE or FALSE."""
Made = Callable[[Mapping[str, ast.Duration], Span], GroupWindow]
"""From durations, by their places. QueryError for sizes that no window has."""


@dataclass(frozen=True)
class WindowFunction:
    """places: of its arguments. needed: those that must be given; needs: what to say where one is
    not. example: of a call. made: the window; None: a session.

    of_table: it stands in FROM. named: places that stand nowhere, but are called by name.
    """

    places: tuple[str, ...]
    needed: tuple[str, ...]
    needs: str
    example: str
    made: Made | None = None
    of_table: bool = True
    named: tuple[str, ...] = ()


def _aligned(given: Mapping[str, ast.Duration], span: Span) -> GroupWindow:
    if "zone" not in given and all(value.exact is not None for value in given.values()):
        return aligned({place: value.micros for place, value in given.items()}, span)
    from sqlwin.sql.windows.calendars import on_calendar

    return on_calendar(given, span)


WINDOW_FUNCTIONS = {
    "tumble": WindowFunction(
        ("data", "timecol", "size", "offset", "zone"),
        ("size",),
        "TUMBLE needs one duration: the size",
        "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE)",
        _aligned,
    ),
    "hop": WindowFunction(
        ("data", "timecol", "slide", "size", "offset", "zone"),
        ("slide", "size"),
        "HOP needs two durations: slide, then size",
        "HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)",
        _aligned,
    ),
    "cumulate": WindowFunction(
        ("data", "timecol", "step", "size", "offset", "zone", ONLY_ON_UPDATE),
        ("step", "size"),
        "CUMULATE needs two durations: step, then the greatest size",
        "CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY)",
        _aligned,
    ),
    "session": WindowFunction(
        ("data", "timecol", "gap"),
        ("gap",),
        "SESSION needs one gap, and several columns of PARTITION BY stand in brackets",
        "SESSION(TABLE clicks PARTITION BY (a, b), DESCRIPTOR(ts), INTERVAL '30' MINUTE)",
        named=("max",),
    ),
    "window": WindowFunction(
        ("data", "timecol", "size", "slide", "offset", "zone"),
        ("size",),
        "window needs one duration: the size",
        "window(ts, '10 minutes'), window(ts, '10 minutes', '1 minute')",
        _aligned,
        of_table=False,
    ),
    "session_window": WindowFunction(
        ("data", "timecol", "gap"),
        ("gap",),
        "session_window needs one gap",
        "session_window(ts, '30 minutes')",
        of_table=False,
    ),
}


def is_window_function(name: str) -> bool:
    return name.lower() in WINDOW_FUNCTIONS


def table_functions() -> tuple[str, ...]:
    """Those that stand in FROM."""
    return tuple(name.upper() for name, each in WINDOW_FUNCTIONS.items() if each.of_table)


def window_function(call: ast.WindowCall) -> WindowFunction:
    return WINDOW_FUNCTIONS[call.function.text.lower()]
