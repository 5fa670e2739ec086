"""The windows of a join's inputs: what each is read as, and which may stand beside another.

Windows of two streams all count messages or all are of time. A static table has none, for it is
looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import StaticScan
from sqlwin.sql.joins.last_rows import LastRows, is_last, last_rows
from sqlwin.sql.joins.sessions import Sessioned, sessioned, unbounded
from sqlwin.sql.joins.slides import Slides, refuse_more, slides
from sqlwin.sql.joins.stays import Staying, windowless
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.sources.event_time import event_time, timed
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window, of_spec
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame

Shape = Frame | Sessioned | LastRows | Slides | Staying
LEGAL_WINDOW = "OVER (ORDER BY ts RANGE INTERVAL '2' MINUTE PRECEDING), OVER (ROWS 3 PRECEDING)"


def span_of(source: ast.From) -> Span:
    return source.source.span if source.alias is None else source.alias.span


def shaped(relation: Relation, source: ast.From) -> tuple[Relation, Shape | None]:
    """With the event time that its window names; a window without bound is none."""
    spec = source.window
    if spec is None:
        return relation, None
    if isinstance(spec, ast.KsqlWindow):
        message = "rows of a window are joined as a query in FROM"
        raise QueryError(message, spec.span, legal=f"FROM TUMBLE(…) a JOIN …; {LEGAL_WINDOW}")
    if isinstance(relation.base, StaticScan):
        raise windowless(spec.span)
    if is_last(spec):
        ts = event_time(spec.order) if spec.order else None
        made = timed(relation, Window(spec.span, frame=Frame(Unit.RANGE, 0), ts=ts))
        return made, last_rows(made, spec)
    if spec.partition and spec.session is None:
        message = "a window of a join is not partitioned: its condition says which rows pair"
        raise QueryError(message, spec.partition[0].span, legal=LEGAL_WINDOW)
    window = of_spec(spec)
    ts = event_time(spec.order) if spec.order else None
    if window.session is not None:
        shape = sessioned(relation, spec, window)
        return timed(relation, replace(window, ts=ts)), shape
    slide = slides(window)
    if slide is not None:
        return timed(relation, replace(window, ts=ts)), slide
    assert window.frame is not None
    made = timed(relation, replace(window, ts=ts))
    return made, window.frame if window.frame.preceding is not None else None


def alike(
    frames: Sequence[Shape | None], given: Sequence[ast.From], relations: Sequence[Relation]
) -> None:
    """All in RANGE, or all in ROWS; a window that advances, too, is of two.

    Static tables may be looked up behind them. Of one stream no window has an effect.
    """
    static = [isinstance(relation.base, StaticScan) for relation in relations]
    streams = static.count(False)
    two = streams == 2 and not static[1]
    if streams < 2:
        return
    for frame, each in zip(frames, given, strict=True):
        if isinstance(frame, Slides) and not two:
            refuse_more(frame, span_of(each))
    given_windows = [
        (f.unit, each.window) for f, each in zip(frames, given, strict=True) if f is not None
    ]
    if any(isinstance(frame, Sessioned) for frame in frames):
        _refuse_unbounded(frames[:2], given, relations)
    rows = [window for unit, window in given_windows if unit is Unit.ROWS and window is not None]
    if rows and len(rows) < len(given_windows):
        message = "one window of this join counts messages, another one time"
        raise QueryError(message, rows[0].span, legal="RANGE in both, or ROWS in both")
    if rows:
        _numbered(rows[0].span, frames, given, relations, streams)


def _numbered(
    span: Span,
    frames: Sequence[Shape | None],
    given: Sequence[ast.From],
    relations: Sequence[Relation],
    streams: int,
) -> None:
    """QueryError where a window in ROWS does not number the rows of both its inputs."""
    for relation in relations:
        _one_partition(relation, span)
    if any(isinstance(relation.base, StaticScan) for relation in relations[:streams]):
        message = "a window in ROWS joins streams or two results, and static tables after them"
        raise QueryError(message, span, legal="a window in RANGE")
    if streams > 2:
        _of_messages(frames, relations[:streams], given)
    for relation, each in zip(relations[:streams], given, strict=False):
        if relation.stream is None or (relation.stream.of and relation.stream.ts is None):
            name = relation.names[0] if relation.names else "this input"
            message = (
                f"{name} has no event time, by which a window in ROWS numbers rows of a result"
            )
            raise QueryError(message, span_of(each), legal="a window in RANGE")


def _of_messages(
    frames: Sequence[Shape | None], relations: Sequence[Relation], given: Sequence[ast.From]
) -> None:
    """QueryError for a result among more than two, whose rows change their numbers, and for a
    session, which may go on for ever."""
    for frame, relation, each in zip(frames, relations, given, strict=False):
        if isinstance(frame, Sessioned):
            message = "sessions of messages join two streams, and static tables after them"
            raise QueryError(message, span_of(each), legal="[ROWS 3] of each; a window in RANGE")
        if relation.stream is None or relation.stream.of:
            name = relation.names[0] if relation.names else "this input"
            message = (
                f"of more than two inputs windows in ROWS count messages, and {name} is a result:"
                " its rows are numbered by event time, which pairs of the others do not have"
            )
            legal = (
                "RSTREAM(SELECT … FROM a [ROWS 3], b [ROWS 2], c [ROWS 4] …), which goes by event"
                " time; a window in RANGE; a result with an event time,"
                " (SELECT … FROM a JOIN b WITHIN 1 HOUR …) ab OVER (ORDER BY ts ROWS 3 PRECEDING)"
            )
            raise QueryError(message, span_of(each), legal=legal)


def _refuse_unbounded(
    frames: Sequence[Shape | None], given: Sequence[ast.From], relations: Sequence[Relation]
) -> None:
    """A window without bound is none, but beside sessions, where it would be another join."""
    for frame, each, relation in zip(frames, given, relations, strict=False):
        if frame is None and isinstance(each.window, ast.Spec):
            name = relation.names[0] if relation.names else "this input"
            raise unbounded(name, each.window)


def _one_partition(relation: Relation, span: Span) -> None:
    """The messages of both streams are numbered, whichever has the window."""
    stream = relation.stream
    count = "1" if stream is None else dict(stream.options).get("partitions", "1")
    if stream is not None and int(count) > 1:
        message = (
            f"{stream.name} has {count} partitions, and their messages have no order "
            "between them in which to be numbered"
        )
        raise QueryError(message, span, legal="a window in RANGE")
