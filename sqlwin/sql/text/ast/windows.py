"""What `OVER (…)`, CQL's brackets, window functions and ksqlDB's WINDOW say of a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlwin.errors import Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.text.ast.terms import Amount, Duration, Name, Run

if TYPE_CHECKING:
    from sqlwin.sql.text.ast.queries import Select


@dataclass(frozen=True)
class Bound:
    """amount None: UNBOUNDED or, where `side` is CURRENT ROW, the row itself."""

    side: str
    amount: Amount | None
    span: Span


@dataclass(frozen=True)
class FrameSpec:
    unit: str
    start: Bound
    end: Bound | None
    span: Span


@dataclass(frozen=True)
class SessionSpec:
    """`SESSION gap GAP MAX most START WHEN starts END WHEN ends`; a Run is each row's own gap."""

    gap: Amount | Run
    span: Span
    most: Duration | None = None
    starts: Run | None = None
    ends: Run | None = None


@dataclass(frozen=True)
class Spec:
    """Of `OVER (…)`, of a stream or a call, or of CQL's brackets."""

    span: Span
    base: Name | None = None
    partition: tuple[Run, ...] = ()
    order: tuple[Run, ...] = ()
    frame: FrameSpec | None = None
    advance: Amount | None = None
    session: SessionSpec | None = None
    exclude: Name | None = None


@dataclass(frozen=True)
class KsqlWindow:
    """kind: TUMBLING, HOPPING or SESSION; parts: SIZE, ADVANCE BY, RETENTION, GRACE PERIOD,
    and GAP for a duration with no word before it."""

    kind: str
    parts: tuple[tuple[str, Duration], ...]
    span: Span


@dataclass(frozen=True)
class Argument:
    """value: a duration, a name (of a stream or column), an expression, or a subquery.

    partition: the PARTITION BY of a table.
    """

    label: str | None
    value: Duration | Name | Run | Select
    span: Span
    partition: tuple[Run, ...] = ()


@dataclass(frozen=True)
class WindowCall:
    """A window function's call: of a table, or in GROUP BY."""

    function: Name
    arguments: tuple[Argument, ...]
    span: Span
