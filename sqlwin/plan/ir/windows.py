"""Window operators of a plan: their aggregate calls, frames, keys and policies."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlwin.added import ADDED
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.once import hashed_once
from sqlwin.policies import Policy
from sqlwin.schema import TIMESTAMP, Column, Order, Schema
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.group import GroupWindow, Whole

if TYPE_CHECKING:
    from sqlwin.plan.ir.nodes import Node

BIGINT = pa.int64()
GROUPING = "__grouping"


@dataclass(frozen=True)
class Aggregate:
    """One aggregate call: `name` is its output column, `args` are input columns.

    function: the name of one of `sqlwin.aggregates.SIGNATURES`, or of a function
    registered from Python. where: a BOOLEAN input column; only rows where it is
    true take part. params: constants, such as a percentile's fraction. distinct:
    equal arguments count once. order: in which rows are taken; none: by position. limit:
    only so many of the first of them; None: all.
    """

    name: str
    function: str
    args: tuple[str, ...]
    type: pa.DataType
    where: str | None = None
    params: tuple[int | float | str | bytes, ...] = ()
    distinct: bool = False
    order: tuple[Order, ...] = ()
    limit: int | None = field(default=None, repr=False, metadata=ADDED)


@hashed_once
@dataclass(frozen=True)
class WindowAggregate:
    """Group windows: one output row for each (keys, window).

    partition: the keys within which a tuple window counts its messages, or by which
    a session is found, a prefix of `keys`; empty for other windows. where: a BOOLEAN
    input column of a window in ROWS: messages where it is not true are counted but
    take no part.
    sets: of GROUPING SETS, each some of `keys`, the others NULL in its rows; none:
    all keys together. Output: keys, `__grouping` where there are sets (BIGINT, as
    GROUPING_ID: a bit for each key, the first key's the highest, set where the key
    is left out), window_start, window_end (TIMESTAMP, or BIGINT message numbers
    for tuple windows; neither for `Whole`), then the aggregates. per_row: nothing is
    grouped: each row is one by itself in every window that holds it, known by its
    position, and `keys` are the columns it carries. at_once: of `Whole`: the first key says an
    instant, whose rows come together: each group is complete as it comes, and nothing is kept.
    """

    input: Node
    window: GroupWindow
    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]
    policy: Policy
    partition: tuple[str, ...] = ()
    where: str | None = None
    sets: tuple[tuple[str, ...], ...] = ()
    per_row: bool = False
    at_once: bool = field(default=False, repr=False, metadata=ADDED)

    @cached_property
    def schema(self) -> Schema:
        below = {column.name: column for column in self.input.schema}
        bound = TIMESTAMP if self.window.unit is Unit.RANGE else BIGINT
        edges = (Column("window_start", bound), Column("window_end", bound))
        return (
            *(below[key] for key in self.keys),
            *((Column(GROUPING, BIGINT),) if self.sets else ()),
            *(() if isinstance(self.window, Whole) else edges),
            *(Column(a.name, a.type) for a in self.aggregates),
        )


@dataclass(frozen=True)
class OverCall:
    """One aggregate over the frame of each row, within its partition.

    order: keys behind event time, which order the rows of an instant; position orders those
    that are equal in all, which are peers. With keys a frame in RANGE has no distance.
    timed: whether the order begins with event time; else `order` is all of it, no frame is ever
    full, and a frame in RANGE may have a distance along a single key, in microseconds of a time.
    """

    aggregate: Aggregate
    partition: tuple[str, ...]
    frame: Frame
    order: tuple[Order, ...] = ()
    timed: bool = True

    def __post_init__(self) -> None:
        bounds = (self.frame.preceding, self.frame.following)
        by_peers = all(bound in (None, -1, 0) for bound in bounds)
        keys = len(self.order) + self.timed
        if keys > 1 and self.frame.unit is Unit.RANGE and not by_peers:
            raise ValueError(f"a distance is of one key alone: {self.frame}")
        if keys == 0:
            raise ValueError("an order that does not begin with event time has keys")


@hashed_once
@dataclass(frozen=True)
class OverAggregate:
    """An OVER clause, or a sliding stream window: a window for each row.

    by_arrival: rows are ordered by position alone (a sliding tuple window), not
    by (ts, position). per_instant: rows of one instant and partition give one
    output row, known by (partition, window_start, window_end): a sliding RANGE
    window of a stream; else every input row gives one, known by its position.
    Output: all input columns, then the calls; where the window is a stream's
    (`window_columns`), window_start and window_end stand between the two.
    where: as in WindowAggregate, with `by_arrival` only.
    """

    input: Node
    calls: tuple[OverCall, ...]
    policy: Policy
    by_arrival: bool = False
    per_instant: bool = False
    window_columns: bool = False
    where: str | None = None

    @property
    def timeless(self) -> bool:
        """Whether some order does not begin with event time, so that any row may change any."""
        return not all(call.timed for call in self.calls)

    @property
    def endless(self) -> bool:
        """Whether some frame is never full."""
        return self.timeless or any(c.frame.in_time.following is None for c in self.calls)

    @cached_property
    def schema(self) -> Schema:
        bound = BIGINT if self.by_arrival else TIMESTAMP
        window = (Column("window_start", bound), Column("window_end", bound))
        return (
            *self.input.schema,
            *(window if self.window_columns else ()),
            *(Column(call.aggregate.name, call.aggregate.type) for call in self.calls),
        )


@hashed_once
@dataclass(frozen=True)
class TopN:
    """The first `limit` rows of each partition in an order that is not event time.

    function: row_number, rank or dense_rank; what is above `limit` is not kept.
    Output: all input columns, then `name` (BIGINT). A row is known by its position.
    """

    input: Node
    name: str
    function: str
    partition: tuple[str, ...]
    order: tuple[Order, ...]
    limit: int
    policy: Policy

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, Column(self.name, BIGINT))


@hashed_once
@dataclass(frozen=True)
class WindowedRelation:
    """CQL's window of a stream by itself: at each instant the rows that are in it.

    Rows enter (`+I`) and leave (`-D`). frame: it ends at the row; with RANGE rows are in it for
    so long, with ROWS the last ones of each `partition` are. slide: microseconds, of a window in
    RANGE that moves at multiples of it; None: at each instant. instants: RSTREAM of it, all rows
    that are there, `+I`, at each instant at which one enters or leaves. until: of instants, the
    input column (BIGINT, microseconds) of the instant at which each row has left, no later than
    the frame says; None: as the frame says. there: of instants, where the rows of the input are
    changes of a relation: the column (BOOLEAN) that says whether a row enters. Then the frame is
    ROWS of one, the last change of each `partition`, which is a column that identifies rows.
    Output: all input columns, and `instant` (TIMESTAMP, or BIGINT of windows in ROWS, the position
    of the message) where it has a name. A row is known by its
    position, and the instant.
    """

    input: Node
    frame: Frame
    partition: tuple[str, ...]
    policy: Policy
    slide: int | None = None
    instants: bool = False
    until: str | None = None
    instant: str | None = None
    there: str | None = field(default=None, repr=False, metadata=ADDED)

    def __post_init__(self) -> None:
        if self.frame.preceding is None or self.frame.following != 0:
            raise ValueError(f"a relation has rows of a bounded window: {self.frame}")

    @property
    def timed(self) -> bool:
        """Whether its instants are of event time; else each message is one."""
        return self.frame.unit is Unit.RANGE or self.there is not None

    @property
    def schema(self) -> Schema:
        type_ = TIMESTAMP if self.timed else BIGINT
        instant = () if self.instant is None else (Column(self.instant, type_),)
        return (*self.input.schema, *instant)


@hashed_once
@dataclass(frozen=True)
class WindowRank:
    """A rank of each row of a group window among those of one window and partition.

    input: a WindowAggregate, whose policy and identity it keeps. partition: some of
    its keys; the window itself is always a part of it. order, function: as TopN.
    Output: all input columns, then `name` (BIGINT).
    """

    input: WindowAggregate
    name: str
    function: str
    partition: tuple[str, ...]
    order: tuple[Order, ...]

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, Column(self.name, BIGINT))
