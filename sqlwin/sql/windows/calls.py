"""Window functions: TUMBLE, HOP, CUMULATE and SESSION of Flink, `window` and `session_window`
of Spark.

Each has places, of a table's call or of one in GROUP BY; an argument stands in the
next place, or behind the place's name: `SIZE => INTERVAL '10' MINUTE`. The call of a
session in GROUP BY is read here, for its gap is any expression.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlwin.errors import QueryError
from sqlwin.sql.syntax.parser import window_call
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import bracketed, parts
from sqlwin.sql.windows.sessions import OpenSession, session
from sqlwin.sql.windows.window import Window, cumulate, hop, refused
from sqlwin.windows import GroupWindow, Unit

PLACES = {
    "tumble": ("data", "timecol", "size", "offset"),
    "hop": ("data", "timecol", "slide", "size", "offset"),
    "cumulate": ("data", "timecol", "step", "size", "offset"),
    "window": ("data", "timecol", "size", "slide", "offset"),
    "session": ("data", "timecol", "gap"),
    "session_window": ("data", "timecol", "gap"),
}
_NAMED = {"session": ("max",)}
"""Places that stand nowhere: an argument of such a one is called by its name."""
_NEEDED = {
    "tumble": ("size",),
    "hop": ("slide", "size"),
    "cumulate": ("step", "size"),
    "window": ("size",),
    "session": ("gap",),
    "session_window": ("gap",),
}
_NEEDS = {
    "tumble": "TUMBLE needs one duration: the size",
    "hop": "HOP needs two durations: slide, then size",
    "cumulate": "CUMULATE needs two durations: step, then the greatest size",
    "window": "window needs one duration: the size",
    "session": "SESSION needs one gap, and several columns of PARTITION BY stand in brackets",
    "session_window": "session_window needs one gap",
}
_EXAMPLES = {
    "tumble": "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE)",
    "hop": "HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)",
    "cumulate": "CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY)",
    "window": "window(ts, '10 minutes'), window(ts, '10 minutes', '1 minute')",
    "session": "SESSION(TABLE clicks PARTITION BY (a, b), DESCRIPTOR(ts), INTERVAL '30' MINUTE)",
    "session_window": "session_window(ts, '30 minutes')",
}
_SESSIONS = ("session", "session_window")
TABLE_FUNCTIONS = ("TUMBLE", "HOP", "CUMULATE", "SESSION")
_CALLED = re.compile(r"\w+")
_COLUMN = re.compile(r"[\w.`]+")


def is_window_function(name: str) -> bool:
    return name.lower() in PLACES


def of_table(call: ast.Call) -> tuple[ast.Argument, Window]:
    """The table that a window function begins with, and the window."""
    given = _placed(call, 0)
    data = given.pop("data", None)
    upper = call.function.text.upper()
    if data is None or not isinstance(data.value, ast.Name | ast.Select):
        span = call.function.span if data is None else data.span
        legal = f"{upper}(TABLE orders, …"
        raise QueryError(f"{upper} begins with the stream", span, legal=legal)
    if data.partition and not _is_session(call):
        raise refused("PARTITION BY of a window function's table", data.span, "GROUP BY")
    return data, replace(_window(call, given), partition=data.partition)


def of_group(run: ast.Run) -> Window:
    """A call in GROUP BY: the event-time column, then durations, or the gap of a session."""
    called = _CALLED.match(run.original)
    assert called is not None
    if called[0].lower() not in _SESSIONS:
        call = window_call(run)
        return _window(call, _placed(call, 1))
    call = _session_call(run, called)
    return replace(_window(call, _placed(call, 1)), keyed=True)


def _session_call(run: ast.Run, called: re.Match[str]) -> ast.Call:
    inner = bracketed(run, called.end())
    if inner is None:
        message = "nothing stands behind a window in GROUP BY"
        raise QueryError(message, run.span, legal=_EXAMPLES[called[0].lower()])
    arguments = tuple(
        ast.Argument(None, _column(part) if at == 0 else part, part.span)
        for at, part in enumerate(parts(inner))
    )
    return ast.Call(ast.Name(called[0], run.at(*called.span())), arguments, run.span)


def _column(run: ast.Run) -> ast.Name | ast.Run:
    plain = _COLUMN.fullmatch(run.original)
    return ast.Name(run.original.replace("`", ""), run.span) if plain else run


def _is_session(call: ast.Call) -> bool:
    return call.function.text.lower() in _SESSIONS


def _placed(call: ast.Call, begin: int) -> dict[str, ast.Argument]:
    """The arguments by their places."""
    places = PLACES[call.function.text.lower()][begin:]
    given: dict[str, ast.Argument] = {}
    for at, argument in enumerate(call.arguments):
        place = _place(call, argument, at, places)
        if place in given:
            message = f"the argument {place.upper()} is given twice"
            raise QueryError(message, argument.span, legal="once")
        given[place] = argument
    return given


def _place(call: ast.Call, argument: ast.Argument, at: int, places: Sequence[str]) -> str:
    function = call.function.text.lower()
    if argument.label is None:
        if at >= len(places):
            raise QueryError(_NEEDS[function], call.function.span, legal=_EXAMPLES[function])
        return places[at]
    known = (*places, *_NAMED.get(function, ()))
    if argument.label.lower() not in known:
        message = f"no argument of {function.upper()} is called {argument.label}"
        raise QueryError(message, argument.span, legal=", ".join(known).upper())
    return argument.label.lower()


def _window(call: ast.Call, given: dict[str, ast.Argument]) -> Window:
    function = call.function.text.lower()
    ts = given.pop("timecol", None)
    if ts is None or not isinstance(ts.value, ast.Name):
        what = "gap" if _is_session(call) else "durations"
        message = f"{function.upper()} needs the event-time column before its {what}"
        raise QueryError(message, call.function.span, legal=_EXAMPLES[function])
    if any(place not in given for place in _NEEDED[function]):
        raise QueryError(_NEEDS[function], call.function.span, legal=_EXAMPLES[function])
    if _is_session(call):
        return Window(call.span, group=_session(call, given), ts=ts.value)
    micros = {place: _micros(call, argument) for place, argument in given.items()}
    return Window(call.span, group=_group(call, micros), ts=ts.value)


def _session(call: ast.Call, given: dict[str, ast.Argument]) -> OpenSession:
    gap, most = given["gap"].value, given.get("max")
    if isinstance(gap, ast.Name):
        gap = ast.Run(gap.text, gap.text, gap.span)
    if isinstance(gap, ast.Select):
        message = "the gap of a session is a duration, or an expression of the row"
        raise QueryError(message, given["gap"].span, legal=_EXAMPLES["session"])
    return session(ast.SessionSpec(gap, call.span, _duration(call, most) if most else None))


def _micros(call: ast.Call, argument: ast.Argument) -> int:
    return _duration(call, argument).micros


def _duration(call: ast.Call, argument: ast.Argument) -> ast.Duration:
    if isinstance(argument.value, ast.Duration):
        return argument.value
    message = f"{call.function.text.upper()} takes durations here"
    raise QueryError(message, argument.span, legal=_EXAMPLES[call.function.text.lower()])


def _group(call: ast.Call, micros: dict[str, int]) -> GroupWindow:
    size, offset = micros["size"], micros.get("offset", 0)
    if "step" in micros:
        return cumulate(size, micros["step"], call.span, offset)
    return hop(size, micros.get("slide", size), call.span, Unit.RANGE, offset)
