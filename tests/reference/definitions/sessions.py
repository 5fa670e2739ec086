"""Session windows by definition, and what it takes for one to replace another.

A session is found among all rows of its session key (`partition`); other keys of GROUP BY
group its rows, and each of these groups has the session's bounds.

A session that grows has other bounds and so is another window: the one that was there
has vanished, and those of its keys that overlap it replace it.

>>> rows = [{"k": k, "__ts": ts, "__part": 0, "__seq": ts} for k, ts in (("a", 0), ("b", 5))]
>>> [(row["k"], span) for row, (span,) in placed(rows, Session(10), ("k",), "__ts")]
[('a', Span(start=0, end=10)), ('b', Span(start=5, end=15))]
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlwin.windows import Unit
from sqlwin.windows.session import Session
from tests.reference.definitions.horizons import by_bucket
from tests.reference.definitions.window import Window
from tests.reference.kernels.rows import Row
from tests.reference.kernels.sessions import Span, sessions_of, spans_of


def placed(
    rows: Sequence[Row], window: Session, partition: tuple[str, ...], measure: str
) -> list[tuple[Row, list[Span]]]:
    """Each row with the one session that holds it. measure: the column rows are ordered by."""
    found: list[tuple[Row, list[Span]]] = []
    for own in by_bucket(rows, partition).values():
        sessions = sessions_of(own, window, measure)
        for session, span in zip(sessions, spans_of(sessions, window, measure), strict=True):
            found += [(row, [span]) for row in session]
    return found


def closed_at(span: Span, window: Session, mark: int) -> bool:
    """Whether no more rows can join that are not late, or, under ROWS, none at all.

    mark: the watermark: a row exactly there is not late yet, and one exactly at the end
    still joins. Under ROWS how many messages were counted: one more than may lie between.
    """
    if window.unit is Unit.ROWS:
        assert window.gap is not None
        return span.end + window.gap <= mark
    return span.end < mark


def replaces(window: Window, vanished: Window) -> bool:
    """Whether both are of the same keys and overlap: only one of them can be true."""
    own, other = window.span, vanished.span
    if own is None or other is None or window.group != vanished.group:
        return False
    return own.start < other.end and other.start < own.end
