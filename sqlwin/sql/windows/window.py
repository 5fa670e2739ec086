"""Which window a FROM clause asks for: OVER and CQL's brackets to one `Window`.

Window functions are in `window_calls`, ksqlDB's windows in `ksql`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.text import ast
from sqlwin.sql.windows.frames import measured
from sqlwin.sql.windows.sessions import LEGAL as LEGAL_SESSION
from sqlwin.sql.windows.sessions import OpenSession, session
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.group import CalendarWindow, Cumulate, Ending, GroupWindow, Hop, Whole

MOST_WINDOWS = 10_000
"""That a row may be in; each window is an emission of its own."""

LEGAL_NOW = "TUMBLE, HOP, CUMULATE, SESSION, OVER (… RANGE or ROWS n PRECEDING [ADVANCE BY …])"


@dataclass(frozen=True)
class Window:
    """group, or else the frame of a sliding window. ts: the column that it names, if any.

    partition: of a stream window, or of a session. keyed: the key of its sessions is all that
    GROUP BY names. grace: ksqlDB's, our RETAIN; retention: how long ksqlDB lets a closed window
    be read. again: it is of windows below, whose columns are keys, and has none itself. zoned: it
    names a time zone. given: its columns are those of the query in FROM, by the names there.
    """

    span: Span
    group: GroupWindow | OpenSession | None = None
    frame: Frame | None = None
    ts: ast.Name | None = None
    partition: tuple[ast.Run, ...] = ()
    grace: ast.Duration | None = None
    retention: ast.Duration | None = None
    keyed: bool = False
    again: bool = False
    zoned: bool = False
    given: bool = False

    @property
    def counts(self) -> bool:
        shape = self.group or self.frame
        return shape is not None and shape.unit is Unit.ROWS

    @property
    def bare(self) -> bool:
        """Whether the query names no window."""
        return isinstance(self.group, Whole)

    @property
    def session(self) -> OpenSession | None:
        return self.group if isinstance(self.group, OpenSession) else None

    @property
    def only_on_update(self) -> bool:
        """Whether it is CUMULATE, of windows in whose last step a group has a row."""
        return isinstance(self.group, Cumulate | CalendarWindow) and self.group.only_on_update

    @property
    def length(self) -> int | None:
        """Event time that the window spans, 0 for one in ROWS, None where it has no bound.

        Of a session the pause that ends it, 0 where each row has its own.
        """
        if self.counts:
            return 0
        if self.frame is not None:
            return self.frame.preceding
        if self.session is not None:
            return self.session.constant or 0
        return self.group.size if isinstance(self.group, Ending) else None

    @property
    def named(self) -> tuple[str, ...]:
        """Those of its columns that a query has beside those of FROM."""
        return () if self.given else self.edges

    @property
    def edges(self) -> tuple[str, ...]:
        """The window's columns that it has; message numbers have no last instant."""
        if self.bare or self.again:
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
    not_too_many(size, advance, span)
    return Hop(size, advance, offset, unit)


def cumulate(size: int, step: int, span: Span, offset: int = 0) -> Cumulate:
    if size <= 0 or step <= 0:
        message = "a window's step and greatest size must be greater than 0"
        raise QueryError(message, span, legal="step, then a multiple of it: 1 HOUR, 1 DAY")
    if size % step:
        message = "CUMULATE's greatest size must be some whole steps"
        raise QueryError(message, span, legal="step, then a multiple of it: 1 HOUR, 1 DAY")
    not_too_many(size, step, span)
    return Cumulate(size, step, offset)


def aligned(lengths: Mapping[str, int], span: Span) -> Hop | Cumulate:
    """By the lengths of a call's places: size, slide or step, offset."""
    offset, size = lengths.get("offset", 0), lengths["size"]
    if "step" in lengths:
        return cumulate(size, lengths["step"], span, offset)
    return hop(size, lengths.get("slide", size), span, Unit.RANGE, offset)


def only_on_update(window: GroupWindow) -> GroupWindow:
    """Of CUMULATE, with those windows alone in whose last step there is a row."""
    if isinstance(window, CalendarWindow):
        assert not isinstance(window.periods, Hop)
        return replace(window, periods=replace(window.periods, only_on_update=True))
    assert isinstance(window, Cumulate)
    return replace(window, only_on_update=True)


def not_too_many(size: int, step: int, span: Span) -> None:
    if size > step * MOST_WINDOWS:
        message = f"a row would be in {-(-size // step):,} windows"
        legal = f"at most {MOST_WINDOWS:,}: a longer advance; OVER for a window of each row"
        raise QueryError(message, span, legal=legal)


# --- OVER and CQL brackets ------------------------------------------------------


def of_spec(spec: ast.Spec) -> Window:
    """A stream window; its ORDER BY is checked by who knows the columns."""
    _refuse_exclude(spec)
    if spec.base is not None:
        raise QueryError("a stream window has no named base", spec.base.span, legal="RANGE, ROWS")
    if spec.session is not None:
        return _session(spec, spec.session)
    if spec.frame is None:
        message = "a stream window needs its length"
        legal = "RANGE INTERVAL '10' MINUTE PRECEDING, ROWS 5 PRECEDING, SESSION 1 HOUR GAP"
        raise QueryError(message, spec.span, legal=legal)
    unit, length = _back(spec.frame)
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


def _session(spec: ast.Spec, given: ast.SessionSpec) -> Window:
    if spec.frame is not None:
        message = "a session has no frame: it is as long as it lasts"
        raise QueryError(message, spec.frame.span, legal=LEGAL_SESSION)
    if spec.advance is not None:
        message = "a session begins with a row of its own and does not advance"
        raise QueryError(message, spec.advance.span, legal=LEGAL_SESSION)
    made = session(given)
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
