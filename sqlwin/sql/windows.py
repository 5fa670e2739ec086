"""Which window a FROM clause asks for: OVER, CQL's brackets and ksqlDB's to one `Window`.

Window functions are in `window_calls`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlwin.errors import QueryError, Span
from sqlwin.sql import ast
from sqlwin.sql.frames import measured
from sqlwin.windows import Cumulate, Frame, GroupWindow, Hop, Unit, Whole

MOST_WINDOWS = 10_000
"""That a row may be in; each window is an emission of its own."""

LEGAL_NOW = "TUMBLE, HOP, CUMULATE, OVER (… RANGE or ROWS n PRECEDING [ADVANCE BY …])"


@dataclass(frozen=True)
class Window:
    """group, or else the frame of a sliding window. ts: the column that it names, if any.

    partition: of a stream window. grace: ksqlDB's, our RETAIN; retention: how long
    ksqlDB lets a closed window be read.
    """

    span: Span
    group: GroupWindow | None = None
    frame: Frame | None = None
    ts: ast.Name | None = None
    partition: tuple[ast.Run, ...] = ()
    grace: ast.Duration | None = None
    retention: ast.Duration | None = None

    @property
    def counts(self) -> bool:
        shape = self.group or self.frame
        return shape is not None and shape.unit is Unit.ROWS

    @property
    def bare(self) -> bool:
        """Whether the query names no window."""
        return isinstance(self.group, Whole)

    @property
    def length(self) -> int | None:
        """Event time that the window spans, 0 for one in ROWS, None where it has no bound."""
        if self.counts:
            return 0
        if self.frame is not None:
            return self.frame.preceding
        if self.group is None or isinstance(self.group, Whole):
            return None
        return self.group.size

    @property
    def edges(self) -> tuple[str, ...]:
        """The window's columns that it has; message numbers have no last instant."""
        if self.bare:
            return ()
        if self.counts:
            return ("window_start", "window_end")
        if self.length is None:
            return ("window_end", "window_time")
        return ("window_start", "window_end", "window_time")


def whole(span: Span) -> Window:
    """All of the stream: GROUP BY without a window."""
    return Window(span, group=Whole())


def refused(what: str, span: Span, legal: str = LEGAL_NOW) -> QueryError:
    return QueryError(f"{what} is not supported yet", span, legal=legal)


def hop(size: int, advance: int, span: Span, unit: Unit, offset: int = 0) -> Hop:
    if size <= 0 or advance <= 0:
        message = "a window's size and advance must be greater than 0"
        raise QueryError(message, span, legal="10 MINUTES, advancing by 1 MINUTE")
    if advance > size:
        message = "a window must not advance by more than its size: rows between would be lost"
        raise QueryError(message, span, legal="slide (or advance) at most size; slide comes first")
    _not_too_many(size, advance, span)
    return Hop(size, advance, offset, unit)


def cumulate(size: int, step: int, span: Span, offset: int = 0) -> Cumulate:
    if size <= 0 or step <= 0:
        message = "a window's step and greatest size must be greater than 0"
        raise QueryError(message, span, legal="step, then a multiple of it: 1 HOUR, 1 DAY")
    if size % step:
        message = "CUMULATE's greatest size must be some whole steps"
        raise QueryError(message, span, legal="step, then a multiple of it: 1 HOUR, 1 DAY")
    _not_too_many(size, step, span)
    return Cumulate(size, step, offset)


def _not_too_many(size: int, step: int, span: Span) -> None:
    if size > step * MOST_WINDOWS:
        message = f"a row would be in {-(-size // step):,} windows"
        legal = f"at most {MOST_WINDOWS:,}: a longer advance; OVER for a window of each row"
        raise QueryError(message, span, legal=legal)


# --- OVER and CQL brackets ------------------------------------------------------


def of_spec(spec: ast.Spec) -> Window:
    """A stream window; its ORDER BY is checked by who knows the columns."""
    refuse_parts(spec)
    _refuse_exclude(spec)
    if spec.base is not None:
        raise QueryError("a stream window has no named base", spec.base.span, legal="RANGE, ROWS")
    if spec.frame is None:
        message = "a stream window needs its length"
        raise QueryError(
            message, spec.span, legal="RANGE INTERVAL '10' MINUTE PRECEDING, ROWS 5 PRECEDING"
        )
    unit, length = _back(spec.frame)
    if unit is Unit.ROWS and spec.order:
        message = "a stream window in ROWS counts messages as they come; it has no ORDER BY"
        raise QueryError(message, spec.order[0].span, legal="ROWS 5 PRECEDING, without ORDER BY")
    if length is None:
        return _unbounded(spec, unit)
    if length < 0 or (unit is Unit.ROWS and length == 0):
        message = "a window's length must be greater than 0"
        raise QueryError(message, spec.frame.span, legal="ROWS 1 PRECEDING, [NOW]")
    if unit is Unit.ROWS and spec.frame.end is not None:
        message = "a stream window in ROWS is counted in messages, itself included"
        raise QueryError(message, spec.frame.span, legal=f"ROWS {length + 1} PRECEDING")
    if spec.advance is None:
        frame = Frame(unit, length - 1 if unit is Unit.ROWS else length)
        return Window(spec.span, frame=frame, partition=spec.partition)
    made = hop(length, _advance(spec.advance, unit), spec.span, unit)
    return Window(spec.span, group=made, partition=spec.partition)


def _unbounded(spec: ast.Spec, unit: Unit) -> Window:
    if spec.advance is not None:
        message = "a window without bound does not advance"
        legal = "RANGE UNBOUNDED PRECEDING and EMIT EARLY EVERY d, or CUMULATE(…)"
        raise QueryError(message, spec.advance.span, legal=legal)
    return Window(spec.span, frame=Frame(unit, None), partition=spec.partition)


def _advance(amount: ast.Amount, unit: Unit) -> int:
    if isinstance(amount, ast.Duration) and unit is Unit.RANGE:
        return amount.micros
    if isinstance(amount, ast.Count) and unit is Unit.ROWS:
        return amount.rows
    legal = "ADVANCE BY 10 ROWS" if unit is Unit.ROWS else "ADVANCE BY INTERVAL '1' MINUTE"
    message = f"a window in {unit.value} advances in the same measure"
    raise QueryError(message, amount.span, legal=legal)


def _refuse_exclude(spec: ast.Spec) -> None:
    if spec.exclude is not None:
        message = "a window of the stream leaves no row out"
        legal = "EXCLUDE in an OVER of the select list"
        raise QueryError(message, spec.exclude.span, legal=legal)


def refuse_parts(spec: ast.Spec) -> None:
    for part in spec.refused:
        what = "the window SESSION" if part.text == "SESSION" else part.text
        raise refused(what, part.span)


def _back(frame: ast.FrameSpec) -> tuple[Unit, int | None]:
    """How far back a stream window goes: `n PRECEDING`, maybe BETWEEN that AND CURRENT ROW."""
    if frame.unit == "GROUPS":
        raise refused("a window in GROUPS", frame.span, "ROWS or RANGE")
    for bound in (frame.start, frame.end):
        ends = bound is frame.end and bound is not None and bound.side != "CURRENT ROW"
        if bound is not None and (ends or "FOLLOWING" in bound.side):
            message = "a window of the stream ends at its row"
            legal = "RANGE or ROWS n PRECEDING; n FOLLOWING in an OVER of the select list"
            raise QueryError(message, bound.span, legal=legal)
    unit = Unit(frame.unit)
    return unit, None if "UNBOUNDED" in frame.start.side else measured(frame.start, unit)


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
    grace, retention = parts.get("GRACE PERIOD"), parts.get("RETENTION")
    return Window(window.span, group=made, grace=grace, retention=retention)
