"""Window functions: TUMBLE, HOP and CUMULATE of Flink, `window` of Spark.

Each has places, of a table's call or of one in GROUP BY; an argument stands in the
next place, or behind the place's name: `SIZE => INTERVAL '10' MINUTE`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlwin.errors import QueryError
from sqlwin.sql import ast
from sqlwin.sql.windows import Window, cumulate, hop, refused
from sqlwin.windows import GroupWindow, Unit

PLACES = {
    "tumble": ("data", "timecol", "size", "offset"),
    "hop": ("data", "timecol", "slide", "size", "offset"),
    "cumulate": ("data", "timecol", "step", "size", "offset"),
    "window": ("data", "timecol", "size", "slide", "offset"),
}
_NEEDED = {
    "tumble": ("size",),
    "hop": ("slide", "size"),
    "cumulate": ("step", "size"),
    "window": ("size",),
}
_NEEDS = {
    "tumble": "TUMBLE needs one duration: the size",
    "hop": "HOP needs two durations: slide, then size",
    "cumulate": "CUMULATE needs two durations: step, then the greatest size",
    "window": "window needs one duration: the size",
}
_EXAMPLES = {
    "tumble": "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE)",
    "hop": "HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)",
    "cumulate": "CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY)",
    "window": "window(ts, '10 minutes'), window(ts, '10 minutes', '1 minute')",
}
_SESSIONS = ("session", "session_window")
TABLE_FUNCTIONS = ("TUMBLE", "HOP", "CUMULATE")


def is_window_function(name: str) -> bool:
    return name.lower() in (*PLACES, *_SESSIONS)


def of_table(call: ast.Call) -> tuple[ast.Argument, Window]:
    """The table that a window function begins with, and the window."""
    given = _placed(call, 0)
    data = given.pop("data", None)
    upper = call.function.text.upper()
    if data is None or isinstance(data.value, ast.Duration):
        span = call.function.span if data is None else data.span
        legal = f"{upper}(TABLE orders, …"
        raise QueryError(f"{upper} begins with the stream", span, legal=legal)
    if data.partitioned:
        raise refused("PARTITION BY of a window function's table", data.span, "GROUP BY")
    return data, _window(call, given)


def of_call(call: ast.Call) -> Window:
    """A call in GROUP BY: the event-time column, then durations."""
    return _window(call, _placed(call, 1))


def _placed(call: ast.Call, begin: int) -> dict[str, ast.Argument]:
    """The arguments by their places."""
    function = call.function.text.lower()
    if function in _SESSIONS:
        raise refused(f"the window {call.function.text.upper()}", call.function.span)
    places = PLACES[function][begin:]
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
    if argument.label.lower() not in places:
        message = f"no argument of {function.upper()} is called {argument.label}"
        raise QueryError(message, argument.span, legal=", ".join(places).upper())
    return argument.label.lower()


def _window(call: ast.Call, given: dict[str, ast.Argument]) -> Window:
    function = call.function.text.lower()
    ts = given.pop("timecol", None)
    if ts is None or not isinstance(ts.value, ast.Name):
        message = f"{function.upper()} needs the event-time column before its durations"
        raise QueryError(message, call.function.span, legal=_EXAMPLES[function])
    micros = {place: _micros(call, argument) for place, argument in given.items()}
    if any(place not in micros for place in _NEEDED[function]):
        raise QueryError(_NEEDS[function], call.function.span, legal=_EXAMPLES[function])
    return Window(call.span, group=_group(call, micros), ts=ts.value)


def _micros(call: ast.Call, argument: ast.Argument) -> int:
    if isinstance(argument.value, ast.Duration):
        return argument.value.micros
    message = f"{call.function.text.upper()} takes durations here"
    raise QueryError(message, argument.span, legal=_EXAMPLES[call.function.text.lower()])


def _group(call: ast.Call, micros: dict[str, int]) -> GroupWindow:
    size, offset = micros["size"], micros.get("offset", 0)
    if "step" in micros:
        return cumulate(size, micros["step"], call.span, offset)
    return hop(size, micros.get("slide", size), call.span, Unit.RANGE, offset)
