"""What the grammar saw, with its place: the variety of the dialect, not yet its meaning.

A scalar expression is a `Run` of text; the `OVER (…)` clauses in it are parsed
here and stand in the run as `OVER` with one private letter, padded, so that
every other character keeps its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sqlwin.durations import LEGAL
from sqlwin.errors import QueryError, Span
from sqlwin.python_functions import PythonFunction, UserFunction

PLACEHOLDER = 0xE000
"""The first of Unicode's private letters; the n-th OVER of a run is named by the n-th."""


@dataclass(frozen=True)
class Name:
    text: str
    span: Span


@dataclass(frozen=True)
class File(Name):
    """A path in FROM, in the place of a stream's name: its columns are inferred."""


@dataclass(frozen=True)
class Inline(Name):
    """Rows that the text itself has, in the place of a stream's name: of VALUES a run each, of a
    series its bounds. columns: their names, where they are given."""

    runs: tuple[Run, ...] = ()
    columns: tuple[Name, ...] = ()

    @property
    def values(self) -> bool:
        return self.text == "VALUES"


@dataclass(frozen=True)
class Duration:
    """exact: microseconds; None: it has no fixed length, or is none, as `problem` says. months:
    where it is of months alone. text: of one that is a text alone, which an argument may be.
    """

    exact: int | None
    span: Span
    months: int | None = None
    text: str | None = None
    problem: str = ""

    @property
    def micros(self) -> int:
        """QueryError where it has no fixed length, or is no duration."""
        if self.exact is None:
            raise QueryError(self.problem, self.span, legal=LEGAL)
        return self.exact


@dataclass(frozen=True)
class Count:
    """A number, of rows where a clause says so."""

    rows: int
    span: Span


Amount = Duration | Count


@dataclass(frozen=True)
class Part:
    """The `at`-th node of a run's tree, as a column called `name`. key: the run is a key of ORDER
    BY."""

    at: int
    name: str
    key: bool = False


@dataclass(frozen=True)
class Run:
    """text: for sqlglot. original: as written. overs: by placeholder, in order.

    functions: the aggregates registered from Python that it may call. macros: those of CREATE
    FUNCTION before it. part: of its tree that alone is meant. below: of its nodes those that a
    query in FROM gives as columns.
    """

    text: str
    original: str
    span: Span
    overs: tuple[Name | Spec, ...] = ()
    functions: tuple[UserFunction, ...] = ()
    macros: tuple[Macro, ...] = ()
    part: Part | None = None
    below: tuple[Part, ...] = ()

    def at(self, start: int, end: int) -> Span:
        """The span of characters `start` to `end` of the run; on its first line only."""
        before = self.original[:start]
        line = before.count("\n")
        column = start - (before.rfind("\n") + 1) + (1 if line else self.span.column)
        first = self.original[start:end].split("\n")[0]
        return Span(self.span.line + line, column, max(1, len(first)))


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


@dataclass(frozen=True)
class MatchRecognize:
    """The clauses of MATCH_RECOGNIZE, by their places. all_rows: what stands behind ALL ROWS PER
    MATCH, or these words. after: what stands behind AFTER MATCH SKIP. pattern: what its brackets
    hold. subsets: each with what its brackets hold."""

    span: Span
    partition: tuple[Run, ...]
    order: tuple[Run, ...]
    measures: tuple[tuple[Run, Name], ...]
    pattern: Run
    define: tuple[tuple[Name, Run], ...]
    after: Run | None = None
    within: Run | None = None
    all_rows: Run | None = None
    subsets: tuple[tuple[Name, Run], ...] = ()


@dataclass(frozen=True)
class From:
    """One relation, maybe with a window, and what it is joined to, in order.

    as_of: the time of FOR SYSTEM_TIME AS OF, which only what is joined can have. above: the
    window over the joined rows, where ksqlDB has it. unnests: of its rows, in order. match:
    MATCH_RECOGNIZE over its rows.
    """

    source: Name | WindowCall | Select | Union | Pivot | Unpivot
    window: Spec | KsqlWindow | None = None
    alias: Name | None = None
    as_of: Name | None = None
    joins: tuple[Join, ...] = ()
    above: KsqlWindow | None = None
    unnests: tuple[Unnest, ...] = ()
    match: MatchRecognize | None = None


@dataclass(frozen=True)
class Unnest:
    """`CROSS JOIN UNNEST(array) AS t(x)`, `LATERAL VIEW EXPLODE(array) t AS x`.

    function: in capitals, without _OUTER. outer: rows without elements stay. ordinality: of WITH
    ORDINALITY. alias, columns: as given. hidden: it stood in SELECT, and no other name means it.
    arrays: where there are several, whose elements `array` has together.
    """

    function: Name
    array: Run
    span: Span
    outer: bool = False
    ordinality: Span | None = None
    alias: Name | None = None
    columns: tuple[Name, ...] = ()
    hidden: bool = False
    arrays: tuple[Run, ...] = ()


@dataclass(frozen=True)
class Matching:
    """How columns of a set operation are matched by their names: `BY NAME`, whose UNION has those
    of all queries, or `CORRESPONDING`, of what all have; names: of BY (…), no others."""

    word: Name
    names: tuple[Name, ...] = ()


@dataclass(frozen=True)
class Union:
    """`… UNION ALL …`: the rows of all, one after another.

    kind: UNION, or of two parts INTERSECT or EXCEPT; then `every` says whether it is of ALL.
    matching: of their columns; None: by their places.
    """

    parts: tuple[Select, ...]
    span: Span
    kind: str = "UNION"
    every: bool = False
    matching: Matching | None = None


@dataclass(frozen=True)
class Pivot:
    """`source PIVOT (calls FOR column IN (values))`; a call and a value may have an alias."""

    source: From
    calls: tuple[Run, ...]
    column: Run
    values: tuple[Run, ...]
    span: Span


@dataclass(frozen=True)
class Unpivot:
    """`source UNPIVOT (values FOR name IN (columns))`: a row for each of the columns, or of the
    lists of them, with what it is called. nulls: for those that are NULL, too."""

    source: From
    values: tuple[Name, ...]
    name: Name
    columns: tuple[tuple[tuple[Run, ...], str], ...]
    nulls: bool
    span: Span


@dataclass(frozen=True)
class Within:
    """ksqlDB's `WITHIN (before, after) GRACE PERIOD grace`, seen from the left row."""

    before: Duration
    after: Duration
    span: Span
    grace: Duration | None = None


@dataclass(frozen=True)
class Join:
    """word: all before the right input, such as LEFT ASOF JOIN, in capitals; or a comma.

    match: the condition of MATCH_CONDITION. nested: it was a query in WHERE, where a bare name
    is one of its own columns if it may be. equal: `(x, …) IN (SELECT y, …)`, each of the
    inputs before and of its own. scalar: it was a query in an expression, which no other row may
    wait for. sign: in the place of the `=` of `equal`, as of `x < ANY (…)`. listed: the columns
    that `*` has of it, where it is not all of them. single: a row that finds two is an error.
    computed: what some of its columns are around the join, over columns of it.
    """

    word: Name
    right: From
    on: Run | None = None
    using: tuple[Name, ...] = ()
    match: Run | None = None
    within: Within | None = None
    nested: bool = False
    equal: tuple[tuple[Run, Run], ...] = ()
    scalar: bool = False
    sign: str = "="
    listed: tuple[str, ...] = ()
    single: bool = False
    computed: tuple[tuple[str, Run], ...] = ()


@dataclass(frozen=True)
class Late:
    """how: EVERY, with a duration, ON UPDATE or NEVER."""

    how: str
    every: Duration | None
    span: Span


NOW = "PROCTIME()"
"""As the time of FOR SYSTEM_TIME AS OF; no name has brackets."""


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


@dataclass(frozen=True)
class Limit:
    """LIMIT or FETCH: of the rows in order those from the `first`-th to the `last`-th. ties: and
    those that are equal to the last; None as `last`: all behind the first."""

    first: int
    last: int | None
    ties: bool
    span: Span


@dataclass(frozen=True)
class Select:
    """order, limit, distinct_on: until the query is whole, which then has a rank for them.

    large: what the hint JOIN_WINDOW says. distinct: the place of DISTINCT. called: the names
    of its columns, of a list behind the name of a view. change: ISTREAM, DSTREAM or RSTREAM.
    instants: the RSTREAM that it, or one around it, stands in: its rows are those of each instant.
    """

    items: tuple[Run, ...]
    relation: From
    span: Span
    where: Run | None = None
    group: tuple[Run, ...] = ()
    having: Run | None = None
    qualify: Run | None = None
    windows: tuple[tuple[Name, Spec], ...] = ()
    policies: Policies = Policies()
    refused: tuple[Name, ...] = ()
    ctes: tuple[tuple[Name, Select], ...] = ()
    ttl: tuple[tuple[Name, int], ...] = ()
    large: bool | None = None
    distinct: Span | None = None
    distinct_on: tuple[Run, ...] = ()
    order: tuple[Run, ...] = ()
    limit: Limit | None = None
    called: tuple[Name, ...] = ()
    change: Name | None = None
    instants: Name | None = None


@dataclass(frozen=True)
class ColumnDef:
    """type: its text, for a declared column; expression: for a computed one."""

    name: Name
    type: Run | None = None
    expression: Run | None = None


@dataclass(frozen=True)
class Watermark:
    column: Name
    expression: Run


@dataclass(frozen=True)
class Position:
    word: Name
    column: Name
    trusted: bool


@dataclass(frozen=True)
class PrimaryKey:
    columns: tuple[Name, ...]


Options = tuple[tuple[str, str], ...]
Places = tuple[tuple[str, Span], ...]
"""Where each option of a WITH clause is given."""


class Existing(Enum):
    """What becomes of something that has the name already."""

    REFUSED = "refused"
    KEPT = "IF NOT EXISTS"
    REPLACED = "OR REPLACE"


@dataclass(frozen=True)
class Like:
    """options: whether those of the other are taken too."""

    name: Name
    options: bool


@dataclass(frozen=True)
class CreateStream:
    """like: what it takes from another. written: the statement as it stands in the text."""

    name: Name
    kind: str
    columns: tuple[ColumnDef, ...]
    watermarks: tuple[Watermark, ...]
    positions: tuple[Position, ...]
    options: Options
    span: Span
    keys: tuple[PrimaryKey, ...] = ()
    places: Places = ()
    existing: Existing = Existing.REFUSED
    like: Like | None = None
    written: str = ""


@dataclass(frozen=True)
class CreateView:
    name: Name
    select: Select
    existing: Existing = Existing.REFUSED
    written: str = ""


@dataclass(frozen=True)
class CreateSink:
    name: Name
    columns: tuple[ColumnDef, ...]
    options: Options
    places: Places = ()
    existing: Existing = Existing.REFUSED
    written: str = ""


@dataclass(frozen=True)
class CreateAs:
    """A named result: a view, unless it is a sink, and a query of the text that gives its rows.

    kind: STREAM, TABLE, MATERIALIZED VIEW, SINK. sink: that its rows go to, None: the screen.
    """

    kind: str
    name: Name
    select: Select
    sink: CreateSink | None
    existing: Existing = Existing.REFUSED
    written: str = ""


@dataclass(frozen=True)
class Macro:
    """CREATE FUNCTION: an expression over its parameters, each a name and maybe a type."""

    name: Name
    parameters: tuple[tuple[Name, Run | None], ...]
    returns: Run | None
    body: Run


@dataclass(frozen=True)
class CreateFunction:
    macro: Macro
    written: str = ""


@dataclass(frozen=True)
class CreatePython:
    """CREATE FUNCTION … LANGUAGE PYTHON. name: where it stands in the text."""

    name: Name
    function: PythonFunction
    written: str = ""


@dataclass(frozen=True)
class Drop:
    """kind: STREAM, TABLE, VIEW, MATERIALIZED VIEW, SINK. if_exists: or nothing is dropped."""

    kind: str
    name: Name
    if_exists: bool


@dataclass(frozen=True)
class Insert:
    sink: Name
    select: Select


@dataclass(frozen=True)
class ExplainOf:
    """of_set: the first INSERT of a statement set, all of which are explained."""

    query: Select | Insert
    analyze: bool = False
    of_set: bool = False


@dataclass(frozen=True)
class EndOfSet:
    """END of a statement set, which nothing does by itself."""


@dataclass(frozen=True)
class DropFunction:
    """Of one that the text has made; the parser knows whether there is one."""

    name: Name


@dataclass(frozen=True)
class DescribeOf:
    name: Name


@dataclass(frozen=True)
class Show:
    """kind: STREAMS, TABLES, VIEWS, SINKS."""

    kind: str


@dataclass(frozen=True)
class ShowCreateOf:
    """kind: as DROP has it, or FUNCTION."""

    kind: str
    name: Name


@dataclass(frozen=True)
class DescribeFunctionOf:
    name: Name


@dataclass(frozen=True)
class ShowFunctionsLike:
    """pattern: with `*` and `|`, as Spark has them; None: all."""

    pattern: str | None


@dataclass(frozen=True)
class Set:
    name: str
    value: str
    span: Span


Statement = (
    CreateStream
    | CreateView
    | CreateSink
    | CreateAs
    | CreateFunction
    | CreatePython
    | Drop
    | DropFunction
    | Insert
    | Select
    | ExplainOf
    | DescribeOf
    | Show
    | ShowCreateOf
    | DescribeFunctionOf
    | ShowFunctionsLike
    | Set
)
