"""What EMIT, RETAIN, RETENTION and EXPIRED say."""

from __future__ import annotations

from sqlwin.errors import Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.text.ast.terms import Count, Duration, Name


@dataclass(frozen=True)
class Late:
    """how: EVERY, with a duration, ON UPDATE or NEVER."""

    how: str
    every: Duration | None
    span: Span


@dataclass(frozen=True)
class Early:
    """every: the period; rows: how many; either of them, or both; none: ON UPDATE. once: a result
    is emitted early but once."""

    every: Duration | None
    rows: Count | None = None
    once: bool = False


@dataclass(frozen=True)
class Expired:
    """how: INTO with a name, EMIT or COUNT."""

    how: str
    into: Name | None
    span: Span


@dataclass(frozen=True)
class Policies:
    """What the clauses EMIT, RETAIN, RETENTION and EXPIRED say.

    changes, final: EMIT CHANGES and FINAL. as_relation: EMIT CHANGES AS RELATION. discarding: an
    emission holds what came since the last one.
    """

    early: Early | None = None
    late: Late | None = None
    on_close: Span | None = None
    timeout: Duration | None = None
    changes: Span | None = None
    as_relation: bool = False
    final: Span | None = None
    discarding: Span | None = None
    retain: Duration | None = None
    retain_rows: Count | None = None
    retention: Duration | None = None
    expired: Expired | None = None
    span: Span | None = None


NO_POLICIES = Policies()
