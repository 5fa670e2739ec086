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
from sqlwin.sql.syntax.parsing.parser import window_call
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import bracketed, parts
from sqlwin.sql.windows.sessions import OpenSession, session
from sqlwin.sql.windows.window import Window, only_on_update, refused
from sqlwin.sql.windows.window_functions import ONLY_ON_UPDATE, WINDOW_FUNCTIONS, window_function

_CALLED = re.compile(r"\w+")
_WINDOW_TIME = re.compile(r"\b(window_time)\s*\(\s*(?:session_)?window\s*\)", re.IGNORECASE)
_COLUMN = re.compile(r"[\w.`]+")


def of_table(call: ast.WindowCall) -> tuple[ast.Argument, Window]:
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
    run = replace(run, text=_timed(run.text), original=_timed(run.original))
    called = _CALLED.match(run.original)
    assert called is not None
    if WINDOW_FUNCTIONS[called[0].lower()].made is not None:
        call = window_call(run)
        return _window(call, _placed(call, 1))
    call = _session_call(run, called)
    return replace(_window(call, _placed(call, 1)), keyed=True)


def _timed(text: str) -> str:
    """With `window_time` for Spark's `window_time(window)`, of the same length."""
    return _WINDOW_TIME.sub(lambda found: found[1].ljust(len(found[0])), text)


def zoned(window: Window, zone: str | None) -> Window:
    """By the clocks of the zone that SET names, where a window of days names none."""
    if zone is None:
        return window
    from sqlwin.sql.windows.calendars import by_clocks_of

    return by_clocks_of(window, zone)


def _session_call(run: ast.Run, called: re.Match[str]) -> ast.WindowCall:
    inner = bracketed(run, called.end())
    if inner is None:
        message = "nothing stands behind a window in GROUP BY"
        raise QueryError(message, run.span, legal=WINDOW_FUNCTIONS[called[0].lower()].example)
    arguments = tuple(
        ast.Argument(None, _column(part) if at == 0 else part, part.span)
        for at, part in enumerate(parts(inner))
    )
    return ast.WindowCall(ast.Name(called[0], run.at(*called.span())), arguments, run.span)


def _column(run: ast.Run) -> ast.Name | ast.Run:
    plain = _COLUMN.fullmatch(run.original)
    return ast.Name(run.original.replace("`", ""), run.span) if plain else run


def _is_session(call: ast.WindowCall) -> bool:
    return window_function(call).made is None


def _placed(call: ast.WindowCall, begin: int) -> dict[str, ast.Argument]:
    """The arguments by their places."""
    places = window_function(call).places[begin:]
    given: dict[str, ast.Argument] = {}
    for at, argument in enumerate(call.arguments):
        place = _place(call, argument, at, places)
        if place in given:
            message = f"the argument {place.upper()} is given twice"
            raise QueryError(message, argument.span, legal="once")
        given[place] = argument
    return given


def _place(call: ast.WindowCall, argument: ast.Argument, at: int, places: Sequence[str]) -> str:
    function = window_function(call)
    if argument.label is None:
        by_value = _place_of_value(argument)
        if by_value is not None and by_value in places:
            return by_value
        if at >= len(places):
            raise QueryError(function.needs, call.function.span, legal=function.example)
        return places[at]
    known = (*places, *function.named)
    if argument.label.lower() not in known:
        name = call.function.text.upper()
        message = f"no argument of {name} is called {argument.label}"
        raise QueryError(message, argument.span, legal=", ".join(known).upper())
    return argument.label.lower()


def _place_of_value(argument: ast.Argument) -> str | None:
    """Of TRUE and FALSE, of a zone, or of a day of the week, which stand anywhere."""
    if _truth(argument) is not None:
        return ONLY_ON_UPDATE
    if not isinstance(argument.value, ast.Duration) or argument.value.text is None:
        return None
    from sqlwin.sql.windows.calendars import place_of

    return place_of(argument.value)


def _window(call: ast.WindowCall, given: dict[str, ast.Argument]) -> Window:
    function = window_function(call)
    ts = given.pop("timecol", None)
    if ts is None or not isinstance(ts.value, ast.Name):
        what = "gap" if function.made is None else "durations"
        name = call.function.text.upper()
        message = f"{name} needs the event-time column before its {what}"
        raise QueryError(message, call.function.span, legal=function.example)
    if any(place not in given for place in function.needed):
        raise QueryError(function.needs, call.function.span, legal=function.example)
    if function.made is None:
        return Window(call.span, group=_session(call, given), ts=ts.value)
    only = _only_on_update(given.pop(ONLY_ON_UPDATE, None))
    durations = {place: _duration(call, argument) for place, argument in given.items()}
    group, zoned = function.made(durations, call.span), "zone" in durations
    group = only_on_update(group) if only else group
    return Window(call.span, group=group, ts=ts.value, zoned=zoned)


def _only_on_update(argument: ast.Argument | None) -> bool:
    said = None if argument is None else _truth(argument)
    if argument is not None and said is None:
        message = "emitOnlyOnUpdate is TRUE or FALSE"
        raise QueryError(message, argument.span, legal="emitOnlyOnUpdate => TRUE")
    return said is True


def _truth(argument: ast.Argument) -> bool | None:
    value = argument.value
    word = value.text.lower() if isinstance(value, ast.Name) else ""
    return {"true": True, "false": False}.get(word)


def _session(call: ast.WindowCall, given: dict[str, ast.Argument]) -> OpenSession:
    gap, most = given["gap"].value, given.get("max")
    if isinstance(gap, ast.Name):
        gap = ast.Run(gap.text, gap.text, gap.span)
    if isinstance(gap, ast.Select):
        message = "the gap of a session is a duration, or an expression of the row"
        raise QueryError(message, given["gap"].span, legal=WINDOW_FUNCTIONS["session"].example)
    return session(ast.SessionSpec(gap, call.span, _duration(call, most) if most else None))


def _duration(call: ast.WindowCall, argument: ast.Argument) -> ast.Duration:
    if isinstance(argument.value, ast.Duration):
        return argument.value
    message = f"{call.function.text.upper()} takes durations here"
    raise QueryError(message, argument.span, legal=window_function(call).example)
