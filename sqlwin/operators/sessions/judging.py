"""Which rows came too late for the session that they would become part of, as KIP-94 judges.

A row is expired iff the session that it makes, with all of the batch and the store that it joins,
ended before `ended`, the watermark less RETAIN. One that ended earlier is still stored for a while,
since a row that counts may join it: for a gap, and for `SPARE` longer, or one more gap. A row
further back than that counts only within a session that is stored.

Invariant: no row that counts joins a session that was evicted.

Worked example, a gap of 10, no RETAIN, watermark 30: sessions [0, 25) and [14, 34) of two keys. A
row at 15 would end at 25, before the watermark: of the first key it is expired, of the second it
counts, for its session goes on to 34.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import SECOND
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import DOUBT, DOUBT_PART, Stores
from sqlwin.operators.sessions.spans import AT, REACH, RUN, met
from sqlwin.policies import Policy
from sqlwin.schema import PART, SEQ, TS
from sqlwin.state.stores.session_store import FROM, UNTIL, SessionStore
from sqlwin.windows import Unit
from sqlwin.windows.session import Session

SPARE = 60 * SECOND
NUMBER, ENDS, BEGAN, ENDED = "__number", "__ends", "__began", "__ended"


def judged_gap(window: Session, policy: Policy, sets: bool, weighted: bool) -> int | None:
    """The gap of sessions that judge their rows; None where a row is judged by its own time.

    A cut session, or one that loses rows, may end before the rows that joined it; of GROUPING SETS
    a row is of a session of each; and a TTL leaves no trace of what it evicts.
    """
    own = window.cut or sets or weighted or policy.ttl is not None or policy.retain is None
    return None if own or window.unit is Unit.ROWS else window.gap


def stored_since(ended: int, gap: int) -> int:
    """Sessions that end here or later are stored. ended: the watermark less RETAIN."""
    return ended - gap - max(gap, SPARE)


def doubted(rows: pl.DataFrame) -> tuple[str, ...]:
    """The columns that distinguish rows which may be expired."""
    return tuple(name for name in DOUBT if name in rows.columns)


def apart(rows: pl.DataFrame) -> tuple[str, ...]:
    """The same, where there are such rows: to fold by columns of NULLs costs time."""
    names = doubted(rows)
    return names if names and rows[DOUBT_PART].null_count() < len(rows) else ()


def with_doubt_of(rows: pl.DataFrame, lifted: pl.DataFrame) -> pl.DataFrame:
    """What was lifted of `rows`, by `apart`, with all columns of doubt, behind the others."""
    names = doubted(rows)
    none = [pl.lit(None, rows.schema[n]).alias(n) for n in names if n not in lifted.columns]
    return lifted.with_columns(none).select(pl.exclude(names), *names) if names else lifted


def in_doubt(ended: int, gap: int) -> pl.Expr:
    """Rows that alone would make a session that has ended."""
    return pl.col(TS) + gap < ended


def with_doubt(rows: pl.DataFrame, doubtful: pl.Expr, text: pl.Expr) -> pl.DataFrame:
    """Rows with the columns `DOUBT`, NULL where no doubt is."""
    values = (pl.col(PART), pl.col(SEQ), text)
    each = zip(DOUBT, values, strict=True)
    return rows.with_columns(pl.when(doubtful).then(value).alias(name) for name, value in each)


@dataclass(frozen=True)
class SessionJudging:
    """gap: in event time. partition: what sessions are of. store: where they are."""

    gap: int
    partition: tuple[str, ...]
    store: str

    def refused(self, rows: pl.DataFrame, stores: Stores, ended: int) -> pl.DataFrame:
        """Those of `rows` that are expired, prepared or not, with `__from`: their instant."""
        spans = self._spans(rows)
        doubtful = spans.filter(pl.col(UNTIL) < ended)
        if doubtful.is_empty():
            return doubtful
        counted = self._counted(self._of_keys(spans, doubtful), stores, ended)
        return doubtful.join(counted, on=NUMBER, how="anti", maintain_order="left")

    def oldest(self, stores: Stores, ended: int) -> int:
        """No row before this instant can be of a session that takes rows."""
        since = stored_since(ended, self.gap)
        began: list[int] = self._sessions(stores).find_sessions(since, since)[FROM].to_list()
        return min([since, *began])

    def _sessions(self, stores: Stores) -> SessionStore:
        return SessionStore(stores[self.store])

    def _spans(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Numbered rows, or what was lifted of them, each with its bounds."""
        if AT in rows.columns:
            bounds = [pl.col(AT).alias(FROM), pl.col(REACH).alias(UNTIL)]
        elif FROM in rows.columns:
            bounds = []
        else:
            bounds = [pl.col(TS).alias(FROM), (pl.col(TS) + self.gap).alias(UNTIL)]
        return rows.with_row_index(NUMBER).with_columns(bounds)

    def _of_keys(self, spans: pl.DataFrame, wanted: pl.DataFrame) -> pl.DataFrame:
        if not self.partition:
            return spans
        on = list(self.partition)
        return spans.join(wanted.select(on), on=on, how="semi", nulls_equal=True)

    def _counted(self, spans: pl.DataFrame, stores: Stores, ended: int) -> pl.DataFrame:
        """Those that are not expired. spans: all of the batch of some keys."""
        since = stored_since(ended, self.gap)
        keys = spans.select(self.partition).unique() if self.partition else None
        latest: int = spans[UNTIL].max()  # type: ignore[assignment]
        stored = self._sessions(stores).find_sessions(since, latest, keys)
        touched, joined = met(stored, spans, self.partition, UNTIL)
        both = pl.concat(frame.select(RUN, UNTIL) for frame in (touched, joined))
        ends = both.group_by(RUN).agg(pl.col(UNTIL).max().alias(ENDS))
        known = joined.join(ends.filter(pl.col(ENDS) >= ended), on=RUN, how="semi")
        old = known.filter(pl.col(FROM) < since)
        within = self._within(old, touched)
        return pl.concat([known.filter(pl.col(FROM) >= since).select(NUMBER), within])

    def _within(self, rows: pl.DataFrame, sessions: pl.DataFrame) -> pl.DataFrame:
        """Those of `rows`, with `__run`, whose instant lies within one of `sessions`."""
        bounds = sessions.select(RUN, pl.col(FROM).alias(BEGAN), pl.col(UNTIL).alias(ENDED))
        pairs = rows.select(NUMBER, RUN, FROM).join(bounds, on=RUN)
        inside = pairs.filter(pl.col(FROM).is_between(pl.col(BEGAN), pl.col(ENDED)))
        return inside.select(NUMBER).unique()
