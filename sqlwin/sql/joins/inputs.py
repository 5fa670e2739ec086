"""The inputs of a join: what each reads, its window, and names that differ.

A column that two inputs have is called `input.column` in the join, any other by its
own name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import Scan, StaticScan
from sqlwin.plan.properties.processing_time import is_clock
from sqlwin.plan.properties.times import preferred
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.joins.last_rows import LastRows, is_last, last_rows
from sqlwin.sql.joins.sessions import Sessioned, sessioned, unbounded
from sqlwin.sql.joins.slides import Slides, refuse_more, slides
from sqlwin.sql.joins.stays import Staying, staying, windowless
from sqlwin.sql.relations.relation import JoinSide, Relation, candidates, timed_as_clock
from sqlwin.sql.sources.derived import derived, limited, result, timed_as
from sqlwin.sql.sources.from_clause import (
    Bind,
    Known,
    event_time,
    of_rows,
    read,
    stream_time,
    timed,
)
from sqlwin.sql.sources.versions import versions
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window, of_spec
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.stays import Stay

Shape = Frame | Sessioned | LastRows | Slides | Staying
LEGAL_WINDOW = "OVER (ORDER BY ts RANGE INTERVAL '2' MINUTE PRECEDING), OVER (ROWS 3 PRECEDING)"


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
    compared = _compared([run for run in runs if run is not None])
    relations = [_meant(relation, compared) for relation in relations]
    spans = [_span(each) for each in given]
    relations[0] = _first(relations, spans[0])
    windowed = [
        staying(r, each, span) if changes else _windowed(r, each)
        for r, each, span in zip(relations, given, spans, strict=True)
    ]
    if not changes:
        _alike([frame for _, frame in windowed], given, [relation for relation, _ in windowed])
    several = sum(not isinstance(r.base, StaticScan) for r, _ in windowed) > 1
    counted = several and any(f is not None and f.unit is Unit.ROWS for _, f in windowed)
    if several and not counted:
        for (relation, _), span in zip(windowed, spans, strict=True):
            if isinstance(relation.base, Scan) and not relation.base.stream.of:
                stream_time(relation, span)
    if counted:
        windowed = [(_filtered(relation, known), frame) for relation, frame in windowed]
    names = _names(relations, spans, [False, *(join.nested for join in source.joins)])
    shared = _shared(relations)
    return [
        _input(relation, name, frame, each.as_of, span, shared)
        for (relation, frame), name, each, span in zip(windowed, names, given, spans, strict=True)
    ]


def _span(source: ast.From) -> Span:
    return source.source.span if source.alias is None else source.alias.span


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
        relation = versions(relation, _span(source))
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


def _first(relations: Sequence[Relation], span: Span) -> Relation:
    """A static table, before what it is joined to, as a stream of its rows: where that is static,
    too, or the table has an event time, as a series of instants."""
    first, *rest = relations
    if not isinstance(first.base, StaticScan):
        return first
    static = all(isinstance(each.base, StaticScan) for each in rest)
    if not static and first.base.stream.ts is None:
        message = f"the static table {first.names[0]} is looked up by what it is joined to"
        raise QueryError(message, span, legal="FROM a stream JOIN the table")
    return of_rows(first, span)


def _unnested(relation: Relation, source: ast.From, known: Known) -> Relation:
    from sqlwin.sql.sources.unnests import unnested

    if source.window is not None or source.as_of is not None:
        message = "a window, or a version, is of rows, and UNNEST beside it makes others"
        legal = "a query in FROM with the UNNEST, and the window over it"
        raise QueryError(message, source.unnests[0].function.span, legal=legal)
    return unnested(of_rows(relation, _span(source)), source.unnests, known)


# --- windows --------------------------------------------------------------------------


def _windowed(relation: Relation, source: ast.From) -> tuple[Relation, Shape | None]:
    """With the event time that its window names; a window without bound is none."""
    spec = source.window
    if spec is None:
        return relation, None
    if isinstance(spec, ast.KsqlWindow):
        message = "rows of a window are joined as a query in FROM"
        raise QueryError(message, spec.span, legal=f"FROM TUMBLE(…) a JOIN …; {LEGAL_WINDOW}")
    if isinstance(relation.base, StaticScan):
        raise windowless(spec.span)
    if is_last(spec):
        ts = event_time(spec.order) if spec.order else None
        made = timed(relation, Window(spec.span, frame=Frame(Unit.RANGE, 0), ts=ts))
        return made, last_rows(made, spec)
    if spec.partition and spec.session is None:
        message = "a window of a join is not partitioned: its condition says which rows pair"
        raise QueryError(message, spec.partition[0].span, legal=LEGAL_WINDOW)
    window = of_spec(spec)
    ts = event_time(spec.order) if spec.order else None
    if window.session is not None:
        shape = sessioned(relation, spec, window)
        return timed(relation, replace(window, ts=ts)), shape
    slide = slides(window)
    if slide is not None:
        return timed(relation, replace(window, ts=ts)), slide
    assert window.frame is not None
    made = timed(relation, replace(window, ts=ts))
    return made, window.frame if window.frame.preceding is not None else None


def _alike(
    frames: Sequence[Shape | None], given: Sequence[ast.From], relations: Sequence[Relation]
) -> None:
    """All in RANGE or, of two streams, all in ROWS; a window that advances, too, is of two.

    Static tables may be looked up behind them. Of one stream no window has an effect.
    """
    static = [isinstance(relation.base, StaticScan) for relation in relations]
    streams = static.count(False)
    two = streams == 2 and not static[1]
    if streams < 2:
        return
    for frame, each in zip(frames, given, strict=True):
        if isinstance(frame, Slides) and not two:
            refuse_more(frame, _span(each))
    given_windows = [
        (f.unit, each.window) for f, each in zip(frames, given, strict=True) if f is not None
    ]
    if any(isinstance(frame, Sessioned) for frame in frames):
        _refuse_unbounded(frames[:2], given, relations)
    rows = [window for unit, window in given_windows if unit is Unit.ROWS and window is not None]
    if rows and len(rows) < len(given_windows):
        message = "one window of this join counts messages, another one time"
        raise QueryError(message, rows[0].span, legal="RANGE in both, or ROWS in both")
    if rows:
        _numbered(rows[0].span, given, relations, streams)


def _numbered(
    span: Span, given: Sequence[ast.From], relations: Sequence[Relation], streams: int
) -> None:
    """QueryError where a window in ROWS does not number the rows of both its inputs."""
    for relation in relations:
        _one_partition(relation, span)
    if streams > 2:
        message = (
            f"a window in ROWS joins two streams or results, and here are {streams}: a pair of the"
            " first two has neither a number nor an event time, by which the next could count it"
        )
        legal = (
            "(SELECT … FROM a JOIN b WITHIN 1 HOUR …) ab OVER (ORDER BY ts ROWS 3 PRECEDING) JOIN c"
        )
        raise QueryError(message, span, legal=f"a window in RANGE; {legal}")
    if isinstance(relations[1].base, StaticScan):
        message = "a window in ROWS joins two streams or results, and static tables after them"
        raise QueryError(message, span, legal="a window in RANGE")
    for relation, each in zip(relations[:2], given, strict=False):
        if relation.stream is None or (relation.stream.of and relation.stream.ts is None):
            name = relation.names[0] if relation.names else "this input"
            message = (
                f"{name} has no event time, by which a window in ROWS numbers rows of a result"
            )
            raise QueryError(message, _span(each), legal="a window in RANGE")


def _refuse_unbounded(
    frames: Sequence[Shape | None], given: Sequence[ast.From], relations: Sequence[Relation]
) -> None:
    """A window without bound is none, but beside sessions, where it would be another join."""
    for frame, each, relation in zip(frames, given, relations, strict=False):
        if frame is None and isinstance(each.window, ast.Spec):
            name = relation.names[0] if relation.names else "this input"
            raise unbounded(name, each.window)


def _filtered(relation: Relation, known: Known) -> Relation:
    """What a query in FROM filters of a result is no row of its own result: it has no number."""
    stream = relation.stream
    if stream is None or not stream.of or relation.predicate is None:
        return relation
    made, ts = result(relation, known), _time(relation)
    if ts is None or made.stream is None or ts not in candidates(made.stream):
        return made
    return replace(made, base=Scan(timed_as(made.stream, ts)))


def _one_partition(relation: Relation, span: Span) -> None:
    """The messages of both streams are numbered, whichever has the window."""
    stream = relation.stream
    count = "1" if stream is None else dict(stream.options).get("partitions", "1")
    if stream is not None and int(count) > 1:
        message = (
            f"{stream.name} has {count} partitions, and their messages have no order "
            "between them in which to be numbered"
        )
        raise QueryError(message, span, legal="a window in RANGE")


# --- names ----------------------------------------------------------------------------


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
    return Input(renamed, side, _time(renamed), frame, as_of, span, *more)


def _time(relation: Relation) -> str | None:
    stream = relation.stream
    for name, tree, _ in relation.columns:
        if stream is not None and isinstance(tree, exp.Column) and tree.name == stream.ts:
            return name
    return None


# --- which event time -----------------------------------------------------------------

_COMPARISONS = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)


def _meant(relation: Relation, compared: Sequence[exp.Column]) -> Relation:
    """A stream by the event time that conditions compare, where they do: any of a derived one, and
    processing time of one that is declared."""
    stream = relation.stream
    if stream is None or relation.versions is not None:
        return relation
    found = [tree.name for tree in _columns(relation, compared)]
    if not stream.of:
        clock = next((name for name in found if is_clock(stream, name)), None)
        if clock is None or stream.ts in found:
            return relation
        return replace(relation, base=Scan(timed_as_clock(stream, clock)))
    timed = [name for name in found if name in candidates(stream)]
    best = preferred(stream, timed) if timed else None
    return relation if best is None else replace(relation, base=Scan(timed_as(stream, best)))


def _columns(relation: Relation, compared: Sequence[exp.Column]) -> Iterator[exp.Column]:
    """Those of its stream that are compared."""
    lower = [name.lower() for name in relation.names]
    for node in compared:
        table, called = node.table.lower(), relation.find(node.name)
        if relation.sides:
            found = relation.candidates(node.name)
            called = next((its for side, its in found if table in ("", side.name.lower())), None)
        name = called if table in ("", *lower) else None
        tree = None if name is None else relation.expression(name)
        if isinstance(tree, exp.Column):
            yield tree


def _compared(conditions: Sequence[ast.Run]) -> list[exp.Column]:
    trees = (parsed(run) for run in conditions)
    nodes = (node for tree in trees for node in tree.find_all(*_COMPARISONS))
    return [column for node in nodes for column in node.find_all(exp.Column)]
