"""Which late rows the sessions of their key do not take any more, by definition.

ended: the watermark before the batch, less RETAIN. Of each session key:

- sessions are stored until they ended a gap before `ended` and as long again, or a minute if that
  is longer;
- the batch is put together with their rows. A row is expired when the session that it is of then
  ended before `ended`;
- a row further back than what is stored is expired, unless it falls into a session that was there.

>>> rows = [{"__ts": ts} for ts in (0, 9)]
>>> [too_late([{"__ts": ts}], rows, 10, at) for ts, at in ((5, 19), (5, 20), (5, 30), (20, 30))]
[[False], [True], [True], [False]]
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlwin.schema import TS
from sqlwin.windows.session import Session
from tests.reference.definitions.window import key_text
from tests.reference.kernels.rows import Row
from tests.reference.kernels.sessions import Span, sessions_of, spans_of

MINUTE = 60_000_000


def of_each_key(
    rows: Sequence[Row], taken: Sequence[Row], gap: int, partition: tuple[str, ...], ended: int
) -> list[bool]:
    """Of each row of a batch whether it is expired."""
    keys = [key_text(row, partition) for row in rows]
    gone = dict.fromkeys(range(len(rows)), False)
    for key in set(keys):
        places = [place for place, own in enumerate(keys) if own == key]
        known = [row for row in taken if key_text(row, partition) == key]
        late = too_late([rows[place] for place in places], known, gap, ended)
        gone |= dict(zip(places, late, strict=True))
    return [gone[place] for place in range(len(rows))]


def too_late(rows: Sequence[Row], taken: Sequence[Row], gap: int, ended: int) -> list[bool]:
    """The same of one session key."""
    window = Session(gap)
    horizon = ended - gap - max(gap, MINUTE)
    stored = [(own, span) for own, span in _spanned(taken, window) if span.end >= horizon]
    merged = _spanned([*rows, *(row for own, _ in stored for row in own)], window)
    kept = [span for _, span in merged if span.end >= ended]
    there = [span for _, span in stored]

    def counts(row: Row) -> bool:
        return _holds(kept, row) and (row[TS] >= horizon or _holds(there, row))

    return [not counts(row) for row in rows]


def _spanned(rows: Sequence[Row], window: Session) -> list[tuple[list[Row], Span]]:
    sessions = sessions_of(list(rows), window)
    return list(zip(sessions, spans_of(sessions, window), strict=True))


def _holds(spans: Sequence[Span], row: Row) -> bool:
    return any(span.start <= row[TS] <= span.end for span in spans)
