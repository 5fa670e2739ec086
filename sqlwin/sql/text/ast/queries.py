"""A SELECT: its clauses, and the relations that its FROM names."""

from __future__ import annotations

from sqlwin.errors import Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.text.ast.policies import NO_POLICIES, Policies
from sqlwin.sql.text.ast.terms import Duration, Name, Run
from sqlwin.sql.text.ast.windows import KsqlWindow, Spec, WindowCall


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
    MATCH_RECOGNIZE over its rows. open: its source is a join in brackets, whose inputs have their
    names outside, too. piped: it is what stands before AGGREGATE, whose window is the one in it.
    timed: a column that has to be a TIMESTAMP, and the condition that says so.
    """

    source: Name | WindowCall | Select | Union | Pivot | Unpivot
    window: Spec | KsqlWindow | None = None
    alias: Name | None = None
    as_of: Name | None = None
    joins: tuple[Join, ...] = ()
    above: KsqlWindow | None = None
    unnests: tuple[Unnest, ...] = ()
    match: MatchRecognize | None = None
    open: bool = False
    piped: bool = False
    timed: tuple[Name, Run] | None = None


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


NOW = "PROCTIME()"
"""As the time of FOR SYSTEM_TIME AS OF; no name has brackets."""


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
    policies: Policies = NO_POLICIES
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
