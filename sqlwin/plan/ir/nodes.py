"""The bound logical plan: frozen nodes, one way to say each thing.

The binder takes all the variety of the dialect; a plan that leaves it has this
normal form, and the runtime lowers nothing else:

    Scan > Filter? > Project > WindowAggregate | OverAggregate | TopN | WindowedRelation
        | MatchRecognize > Filter? > Project
    Scan > Filter? > Project > WindowAggregate > WindowRank > Filter? > Project
    Scan > Filter? > Project                                      (no window)
    Scan > Filter? > Project > Unnest > Project                   (rows of a derived stream)
    Join > Filter? > Project, where an input of the Join is
        Scan > Filter? > Project, or
        StaticScan > Filter? > Project                            (on the right)

A Scan is of a declared stream, or of a derived one, whose rows are the results of other
such plans: so windows chain.

Keys, arguments and carried columns of a window operator are plain columns,
computed by the Project below it; everything after aggregation is computed by
the Project above. Keys of a Join likewise: `_key1`, `_key2`, … where they are no
columns; a column that two inputs of a join have is called `input.column` in their
Projects. Conditions on one input are its Filter, where outer joins let them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa

from sqlwin.added import ADDED
from sqlwin.aggregates.python import PythonAggregate
from sqlwin.plan.ir.joins import Join, StaticScan
from sqlwin.plan.ir.matches import MatchRecognize
from sqlwin.plan.ir.once import hashed_once
from sqlwin.plan.ir.source_text import SourceText
from sqlwin.plan.ir.streams import Scalar, Stream, column_of, quoted
from sqlwin.plan.ir.unnest import Unnest
from sqlwin.policies import Policy
from sqlwin.python_functions import PythonFunction
from sqlwin.schema import TIMESTAMP, Column, Order, Schema
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.group import GroupWindow, Whole

__all__ = [
    "Join",
    "MatchRecognize",
    "Scalar",
    "StaticScan",
    "Stream",
    "Unnest",
    "column_of",
    "quoted",
]

BIGINT = pa.int64()
GROUPING = "__grouping"


@hashed_once
@dataclass(frozen=True)
class Scan:
    stream: Stream

    @cached_property
    def schema(self) -> Schema:
        return self.stream.schema


@hashed_once
@dataclass(frozen=True)
class Filter:
    input: Node
    predicate: Scalar

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema


@hashed_once
@dataclass(frozen=True)
class Project:
    input: Node
    columns: tuple[tuple[str, Scalar], ...]

    @cached_property
    def schema(self) -> Schema:
        return tuple(Column(name, scalar.type) for name, scalar in self.columns)


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


Windowed = WindowAggregate | OverAggregate | TopN | WindowedRelation | WindowRank | MatchRecognize
Unary = Filter | Project | Unnest | Windowed
Node = Scan | StaticScan | Unary | Join


@dataclass(frozen=True)
class Sink:
    """Where a query's rows go. options: of the WITH clause, sorted."""

    name: str
    columns: Schema | None
    options: tuple[tuple[str, str], ...]

    @property
    def changelog(self) -> str:
        """What it can hold: append, upsert or retract; see `plan/options/sinks.py`."""
        return dict(self.options).get("changelog", "upsert")


@dataclass(frozen=True)
class Query:
    """One SELECT or INSERT INTO: a plan in normal form, and its sink (None: the screen).

    explain: it is to be shown, not run. analyze: and run as well, to be measured. errors: the sink
    that EXPIRED INTO names, where one of that name is declared. functions: those registered from
    Python that it calls; scalars: those of them that are computed of one row.
    errors_into: the name itself, of a query without a window; others have it in their policy.
    """

    plan: Node
    sink: Sink | None = None
    explain: bool = False
    errors: Sink | None = None
    functions: tuple[PythonAggregate, ...] = ()
    errors_into: str | None = None
    analyze: bool = False
    scalars: tuple[PythonFunction, ...] = ()

    @property
    def retracts(self) -> bool:
        """Whether its sink takes both halves of a change."""
        return self.sink is not None and self.sink.changelog == "retract"


@dataclass(frozen=True)
class Describe:
    """DESCRIBE of a stream, a view or a sink: its columns; stream: where it is one."""

    name: str
    columns: Schema
    stream: Stream | None = None


@dataclass(frozen=True)
class ShowDeclared:
    """SHOW STREAMS, TABLES, VIEWS, SINKS: names of those declared so far, and their columns."""

    declared: tuple[tuple[str, Schema], ...]


@dataclass(frozen=True)
class DescribeFunction:
    """DESCRIBE FUNCTION of a scalar or an aggregate. lines: of one that the script has made, or
    that was registered."""

    name: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShowFunctions:
    """SHOW FUNCTIONS. pattern: of their names, None for all. own: names of the script's own."""

    pattern: str | None = None
    own: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShowCreate:
    """SHOW CREATE TABLE, VIEW, SINK, FUNCTION. text: the statement, without its secrets."""

    text: str


Statement = Query | Describe | ShowDeclared | DescribeFunction | ShowFunctions | ShowCreate


@dataclass(frozen=True)
class Script:
    """Everything a text declares and asks for, in the order of the text.

    statements: all that answers, queries to explain among them. wording: what it was
    bound from, None for plans made by hand.
    """

    streams: tuple[Stream, ...]
    statements: tuple[Statement, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    source_text: SourceText | None = field(default=None, compare=False)

    @property
    def queries(self) -> tuple[Query, ...]:
        """Those to run."""
        return tuple(s for s in self.statements if isinstance(s, Query) and not s.explain)
