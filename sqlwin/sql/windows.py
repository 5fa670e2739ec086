"""Which window a FROM clause, or a GROUP BY, asks for: all spellings to one `Window`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlwin.errors import QueryError, Span
from sqlwin.sql import ast
from sqlwin.windows import Frame, Hop, Unit

MOST_WINDOWS = 10_000
"""That a row may be in; each window is an emission of its own."""

LEGAL_NOW = "TUMBLE, HOP, OVER (… RANGE or ROWS n PRECEDING [ADVANCE BY …])"
_SIZES = {"tumble": ("size",), "hop": ("slide", "size"), "window": ("size",)}
_NEEDS = {
    "tumble": "TUMBLE needs one duration: the size",
    "hop": "HOP needs two durations: slide, then size",
    "window": "window needs one duration: the size",
}
_EXAMPLES = {
    "tumble": "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE)",
    "hop": "HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)",
    "window": "window(ts, '10 minutes'), window(ts, '10 minutes', '1 minute')",
}


@dataclass(frozen=True)
class Window:
    """hop, or else the frame of a sliding window. ts: the column that it names, if any.

    partition: of a stream window. grace: ksqlDB's, our RETAIN.
    """

    span: Span
    hop: Hop | None = None
    frame: Frame | None = None
    ts: ast.Name | None = None
    partition: tuple[ast.Run, ...] = ()
    grace: ast.Duration | None = None

    @property
    def counts(self) -> bool:
        unit = self.hop.unit if self.hop else self.frame.unit if self.frame else Unit.RANGE
        return unit is Unit.ROWS

    @property
    def length(self) -> int:
        """Event time that the window spans, 0 for one in ROWS."""
        if self.counts:
            return 0
        return self.hop.size if self.hop else self.frame.preceding if self.frame else 0


def refused(what: str, span: Span, legal: str = LEGAL_NOW) -> QueryError:
    return QueryError(f"{what} is not supported yet", span, legal=legal)


# --- functions: TUMBLE, HOP, Spark's window -----------------------------------


def is_window_function(name: str) -> bool:
    return name.lower() in (*_SIZES, "session", "session_window", "cumulate")


def of_call(call: ast.Call, arguments: tuple[ast.Argument, ...]) -> Window:
    """`arguments`: the event-time column, then durations."""
    function = call.function.text.lower()
    if function in ("session", "session_window", "cumulate"):
        raise refused(f"the window {call.function.text.upper()}", call.function.span)
    ts, *rest = arguments or (None,)
    if ts is None or not isinstance(ts.value, ast.Name):
        message = f"{call.function.text.upper()} needs the event-time column before its durations"
        raise QueryError(message, call.function.span, legal=_EXAMPLES[function])
    durations = [_duration(call, argument) for argument in rest]
    return replace(_hop(call, function, durations), ts=ts.value)


def _duration(call: ast.Call, argument: ast.Argument) -> ast.Duration:
    if isinstance(argument.value, ast.Duration):
        return argument.value
    message = f"{call.function.text.upper()} takes durations here"
    raise QueryError(message, argument.span, legal=_EXAMPLES[call.function.text.lower()])


def _hop(call: ast.Call, function: str, durations: list[ast.Duration]) -> Window:
    needed = len(_SIZES[function])
    most = 3 if function == "window" else needed + 1
    if not needed <= len(durations) <= most:
        raise QueryError(_NEEDS[function], call.function.span, legal=_EXAMPLES[function])
    given = [duration.micros for duration in durations]
    if function == "window":
        size, advance, offset = (*given, given[0], 0)[:3] if len(given) == 1 else (*given, 0)[:3]
    elif function == "hop":
        advance, size, offset = (*given, 0)[:3]
    else:
        size, offset = (*given, 0)[:2]
        advance = size
    return Window(call.span, hop=hop(size, advance, call.span, Unit.RANGE, offset))


def hop(size: int, advance: int, span: Span, unit: Unit, offset: int = 0) -> Hop:
    if size <= 0 or advance <= 0:
        raise QueryError("a window's size and advance must be greater than 0", span)
    if advance > size:
        message = "a window must not advance by more than its size: rows between would be lost"
        raise QueryError(message, span, legal="slide (or advance) at most size; slide comes first")
    if size > advance * MOST_WINDOWS:
        message = f"a row would be in {-(-size // advance):,} windows"
        legal = f"at most {MOST_WINDOWS:,}: a longer advance; OVER for a window of each row"
        raise QueryError(message, span, legal=legal)
    return Hop(size, advance, offset, unit)


# --- OVER and CQL brackets ------------------------------------------------------


def of_spec(spec: ast.Spec) -> Window:
    """A stream window; its ORDER BY is checked by who knows the columns."""
    refuse_parts(spec)
    if spec.base is not None:
        raise QueryError("a stream window has no named base", spec.base.span, legal="RANGE, ROWS")
    if spec.frame is None:
        message = "a stream window needs its length"
        raise QueryError(
            message, spec.span, legal="RANGE INTERVAL '10' MINUTE PRECEDING, ROWS 5 PRECEDING"
        )
    unit, length = reach(spec.frame)
    if length <= 0:
        raise QueryError("a window's length must be greater than 0", spec.frame.span)
    if unit is Unit.ROWS and spec.frame.end is not None:
        message = "a stream window in ROWS is counted in messages, itself included"
        raise QueryError(message, spec.frame.span, legal=f"ROWS {length + 1} PRECEDING")
    if unit is Unit.ROWS and spec.order:
        message = "a stream window in ROWS counts messages as they come; it has no ORDER BY"
        raise QueryError(message, spec.order[0].span, legal="ROWS 5 PRECEDING, without ORDER BY")
    if spec.advance is None:
        frame = Frame(unit, length - 1 if unit is Unit.ROWS else length)
        return Window(spec.span, frame=frame, partition=spec.partition)
    made = hop(length, _advance(spec.advance, unit), spec.span, unit)
    return Window(spec.span, hop=made, partition=spec.partition)


def _advance(amount: ast.Amount, unit: Unit) -> int:
    if isinstance(amount, ast.Duration) and unit is Unit.RANGE:
        return amount.micros
    if isinstance(amount, ast.Count) and unit is Unit.ROWS:
        return amount.rows
    legal = "ADVANCE BY 10 ROWS" if unit is Unit.ROWS else "ADVANCE BY INTERVAL '1' MINUTE"
    message = f"a window in {unit.value} advances in the same measure"
    raise QueryError(message, amount.span, legal=legal)


def refuse_parts(spec: ast.Spec) -> None:
    for part in spec.refused:
        what = "the window SESSION" if part.text == "SESSION" else part.text
        raise refused(what, part.span)


def reach(frame: ast.FrameSpec) -> tuple[Unit, int]:
    """How far back a frame goes: `n PRECEDING`, or BETWEEN that AND CURRENT ROW."""
    if frame.unit == "GROUPS":
        raise refused("a frame in GROUPS", frame.span, "ROWS or RANGE")
    for bound in (frame.start, frame.end):
        if bound is not None and ("UNBOUNDED" in bound.side or "FOLLOWING" in bound.side):
            raise refused(f"{bound.side} in a frame", bound.span, "n PRECEDING [AND CURRENT ROW]")
    if frame.end is not None and frame.end.side != "CURRENT ROW":
        raise refused("a frame that ends before the current row", frame.end.span, "AND CURRENT ROW")
    unit = Unit(frame.unit)
    return unit, _length(frame.start, unit)


def _length(bound: ast.Bound, unit: Unit) -> int:
    if bound.amount is None:
        return 0
    if unit is Unit.RANGE and isinstance(bound.amount, ast.Count):
        message = "RANGE is measured in event time and needs a duration"
        rows = bound.amount.rows
        legal = f"RANGE INTERVAL '{rows}' MINUTE PRECEDING, or ROWS {rows} PRECEDING"
        raise QueryError(message, bound.span, legal=legal)
    if unit is Unit.ROWS and isinstance(bound.amount, ast.Duration):
        message = "ROWS counts rows and takes no duration"
        raise QueryError(
            message, bound.span, legal="ROWS 5 PRECEDING, or RANGE INTERVAL '5' MINUTE PRECEDING"
        )
    return bound.amount.micros if isinstance(bound.amount, ast.Duration) else bound.amount.rows


# --- ksqlDB -----------------------------------------------------------------------


def of_ksql(window: ast.KsqlWindow) -> Window:
    if window.kind == "SESSION":
        raise refused("the window SESSION", window.span)
    parts = dict(window.parts)
    size, advance = parts.get("SIZE"), parts.get("ADVANCE BY")
    tumbling = window.kind == "TUMBLING"
    if size is None or tumbling == (advance is not None):
        needs = "SIZE" if tumbling else "SIZE and ADVANCE BY"
        legal = "(SIZE 1 HOUR)" if tumbling else "(SIZE 1 HOUR, ADVANCE BY 10 MINUTES)"
        raise QueryError(f"WINDOW {window.kind} needs {needs}", window.span, legal=legal)
    step = advance.micros if advance else size.micros
    made = hop(size.micros, step, window.span, Unit.RANGE)
    return Window(window.span, hop=made, grace=parts.get("GRACE PERIOD"))
