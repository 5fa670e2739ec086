"""The inputs of a join: what each reads, its window, and names that differ.

A column that two inputs have is called `input.column` in the join, any other by its
own name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Scan, StaticScan
from sqlwin.sql.joins.compared_times import as_compared, compared_columns, time_column
from sqlwin.sql.joins.input_windows import Shape, alike, shaped, span_of
from sqlwin.sql.joins.last_rows import LastRows
from sqlwin.sql.joins.sessions import Sessioned
from sqlwin.sql.joins.slides import Slides
from sqlwin.sql.joins.stays import Staying, staying
from sqlwin.sql.relations.event_times import candidates
from sqlwin.sql.relations.relation import JoinSide, Relation
from sqlwin.sql.sources.derived import derived, limited, result, timed_as
from sqlwin.sql.sources.event_time import stream_time
from sqlwin.sql.sources.from_clause import of_rows, once, read
from sqlwin.sql.sources.known import Bind, Known
from sqlwin.sql.sources.versions import versions
from sqlwin.sql.text import ast
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.stays import Stay


@dataclass(frozen=True)
class Input:
    """relation: with the join's names. side: of its own columns; unnested: of those of elements of
    its arrays, or of the other inputs of a join in brackets; same: columns that this one makes
    equal, each with the one to be read for both. ts: of its event time, where a column shows it.

    frame: of its window; none: what came before is never too old. session: of its sessions.
    last: of a window of the last row of each key. slide: of a window that advances by so much.
    stay: how long its rows are there, where the join is made of changes. called: its name in the
    text, which in a query of WHERE another one may have, too.
    """

    relation: Relation
    side: JoinSide
    ts: str | None
    frame: Frame | None
    as_of: ast.Name | None
    span: Span
    session: Sessioned | None = None
    last: LastRows | None = None
    slide: int | None = None
    stay: Stay | None = None
    unnested: tuple[JoinSide, ...] = ()
    called: str = ""
    same: tuple[tuple[str, str], ...] = ()

    @property
    def sides(self) -> tuple[JoinSide, ...]:
        return (self.side, *self.unnested)

    @property
    def static(self) -> bool:
        return isinstance(self.relation.base, StaticScan)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _, _ in self.relation.columns)


def inputs(
    source: ast.From, known: Known, bind: Bind, select: ast.Select, changes: bool = False
) -> list[Input]:
    """In the order of the text. select: the query, of whose WHERE each input takes the bound of its
    rank, where it has one. changes: the join is made of changes."""
    given = [source, *(join.right for join in source.joins)]
    relations = [_read(each, known, bind, at, select) for at, each in enumerate(given)]
    if not changes:
        joined = zip(relations[1:], source.joins, strict=True)
        relations[1:] = [_settled(relation, join, known) for relation, join in joined]
    runs = (select.where, *(run for join in source.joins for run in (join.on, join.match)))
    compared = compared_columns([run for run in runs if run is not None])
    relations = [as_compared(relation, compared) for relation in relations]
    spans = [span_of(each) for each in given]
    relations = _by_themselves(relations, spans[0])
    windowed = [
        staying(r, each, span) if changes else shaped(r, each)
        for r, each, span in zip(relations, given, spans, strict=True)
    ]
    if not changes:
        alike([frame for _, frame in windowed], given, [relation for relation, _ in windowed])
    streams = sum(not isinstance(r.base, StaticScan) for r, _ in windowed)
    several = streams > 1
    counted = several and any(f is not None and f.unit is Unit.ROWS for _, f in windowed)
    if several and not counted:
        for (relation, _), span in zip(windowed, spans, strict=True):
            if isinstance(relation.base, Scan) and not relation.base.stream.of:
                stream_time(relation, span)
    if counted:
        windowed = [(_filtered(relation, known), frame) for relation, frame in windowed]
    if counted and streams > 2:
        windowed = [(relation, _counted(relation, frame)) for relation, frame in windowed]
    names = _names(relations, spans, [False, *(join.nested for join in source.joins)])
    shared = _shared(relations)
    return [
        _input(relation, name, frame, each.as_of, span, shared)
        for (relation, frame), name, each, span in zip(windowed, names, given, spans, strict=True)
    ]


def _read(source: ast.From, known: Known, bind: Bind, at: int, select: ast.Select) -> Relation:
    value = source.source
    if isinstance(value, ast.WindowCall):
        star = ast.Run("*", "*", value.function.span)
        value = ast.Select((star,), ast.From(value), value.function.span)
    if source.open:
        from sqlwin.sql.joins.brackets import opened  # by need

        assert isinstance(value, ast.Select)
        return opened(value, select, known, bind)
    relation = read(value, known, bind)
    if source.alias is not None:
        relation = relation.called(source.alias.text)
    if source.unnests:
        relation = _unnested(relation, source, known)
    relation = limited(relation, select.where)
    if source.as_of is not None:
        relation = versions(relation, span_of(source))
    relation = derived(relation, known)
    if source.as_of is not None and not at:
        message = "FOR SYSTEM_TIME AS OF stands behind what is joined"
        raise QueryError(message, source.as_of.span, legal="JOIN rates FOR SYSTEM_TIME AS OF o.ts")
    return relation


def _settled(relation: Relation, join: ast.Join, known: Known) -> Relation:
    """What is made of static tables alone as one of them, where it is looked up."""
    stream = relation.stream
    if stream is None or not stream.of or join.right.as_of is not None:
        return relation
    from sqlwin.sql.sources.settled import settled  # by need

    return settled(relation, join, known)


def _by_themselves(relations: Sequence[Relation], span: Span) -> list[Relation]:
    """A static table, before what it is joined to, as a stream of its rows: where that is static,
    too, or the table has an event time, as a series of instants. It is read once, so where it is
    joined with itself it is so, too."""
    first, *rest = relations
    if not isinstance(first.base, StaticScan):
        return [first, *rest]
    table = first.base.stream
    static = all(isinstance(each.base, StaticScan) for each in rest)
    if not static and table.ts is None:
        message = f"the static table {first.names[0]} is looked up by what it is joined to"
        raise QueryError(message, span, legal="FROM a stream JOIN the table")
    again = StaticScan(replace(once(table), bounded=False))
    others = [replace(each, base=again) if each.base == first.base else each for each in rest]
    return [of_rows(first, span), *others]


def _unnested(relation: Relation, source: ast.From, known: Known) -> Relation:
    from sqlwin.sql.sources.unnests import unnested

    if source.window is not None or source.as_of is not None:
        message = "a window, or a version, is of rows, and UNNEST beside it makes others"
        legal = "a query in FROM with the UNNEST, and the window over it"
        raise QueryError(message, source.unnests[0].function.span, legal=legal)
    return unnested(of_rows(relation, span_of(source)), source.unnests, known)


def _counted(relation: Relation, shape: Shape | None) -> Shape | None:
    """The window of a stream without one, beside two others of which one at least is in ROWS."""
    static = isinstance(relation.base, StaticScan)
    return Frame(Unit.ROWS, None) if shape is None and not static else shape


def _filtered(relation: Relation, known: Known) -> Relation:
    """What a query in FROM filters of a result is no row of its own result: it has no number."""
    stream = relation.stream
    if stream is None or not stream.of or relation.predicate is None:
        return relation
    made, ts = result(relation, known), time_column(relation)
    if ts is None or made.stream is None or ts not in candidates(made.stream):
        return made
    return replace(made, base=Scan(timed_as(made.stream, ts)))


# --- names --------------------------------------------------------------------------


def _names(
    relations: Sequence[Relation], spans: Sequence[Span], nested: Sequence[bool]
) -> list[str]:
    """By which columns may be qualified; `_2` for a query that has no name, and behind the name of
    one of a query in WHERE that is called as another one."""
    names: list[str] = []
    taken: set[str] = set()
    for at, (relation, span) in enumerate(zip(relations, spans, strict=True)):
        name = relation.names[0] if relation.names else f"_{at + 1}"
        while nested[at] and name.lower() in taken:
            name = f"{name}_{at + 1}"
        for each in (name, *(side.name for side in relation.sides[1:])):
            if each.lower() in taken:
                message = f"two inputs of this join are called {each}"
                raise QueryError(message, span, legal=f"{each} AS another")
            taken.add(each.lower())
        names.append(name)
    return names


def _shared(relations: Sequence[Relation]) -> set[str]:
    """Names in lower case that more than one has."""
    counted = Counter(name.lower() for relation in relations for name, _, _ in relation.columns)
    return {name for name, count in counted.items() if count > 1}


def _input(
    relation: Relation,
    name: str,
    shape: Shape | None,
    as_of: ast.Name | None,
    span: Span,
    shared: set[str],
) -> Input:
    own = [column for column, _, _ in relation.columns]
    called = [f"{name}.{column}" if column.lower() in shared else column for column in own]
    columns = tuple(
        (new, tree, run) for new, (_, tree, run) in zip(called, relation.columns, strict=True)
    )
    pairs = dict(zip(own, called, strict=True))
    first, *unnested = relation.sides or (JoinSide(name, tuple(zip(own, own, strict=True))),)
    side, *others = (
        replace(each, columns=tuple((at, pairs[its]) for at, its in each.columns))
        for each in (replace(first, name=name), *unnested)
    )
    renamed = replace(relation, columns=columns, names=(name,), sides=())
    slide = shape if isinstance(shape, Slides) else None
    frame = shape if isinstance(shape, Frame) else None if slide is None else slide.frame
    session = shape.of(side) if isinstance(shape, Sessioned) else None
    last = shape.of(side) if isinstance(shape, LastRows) else None
    step = None if slide is None else slide.slide
    stay = shape.of(side) if isinstance(shape, Staying) else None
    called_ = relation.names[0] if relation.names else name
    equal = (pair for pair in relation.same if pairs.keys() >= set(pair))
    same = tuple((pairs[one], pairs[other]) for one, other in equal)
    more = (session, last, step, stay, tuple(others), called_, same)
    return Input(renamed, side, time_column(renamed), frame, as_of, span, *more)
