"""SELECT: from the AST to a relation over a plan node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlwin.errors import QueryError
from sqlwin.sql.over.select import has_over, over
from sqlwin.sql.relations.items import Item, called, items
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.select.aliases import aliases_explained
from sqlwin.sql.select.ctes import with_ctes
from sqlwin.sql.select.groups.grouped import grouped
from sqlwin.sql.select.implied_windows import window_of_rows
from sqlwin.sql.select.inputs import above_rows, input_of, inward, taken_in
from sqlwin.sql.select.inside import inner
from sqlwin.sql.select.instants import at_instants, of_messages
from sqlwin.sql.select.row_results import alone, of_window, refusal
from sqlwin.sql.select.row_windows import condition, of_each_row, sliding
from sqlwin.sql.select.streams import as_stream
from sqlwin.sql.select.two_queries import two_queries
from sqlwin.sql.select.windowed import over_relation
from sqlwin.sql.sources.from_clause import narrowed
from sqlwin.sql.sources.known import Bind, Known
from sqlwin.sql.text import ast
from sqlwin.sql.windows.group_by import above_window, by_call, group_window, same_window
from sqlwin.sql.windows.policies import refuse_all, retains
from sqlwin.sql.windows.policy_clauses import emits
from sqlwin.sql.windows.ttl import of_hints
from sqlwin.sql.windows.window import Window, refused


def bind_select(select: ast.Select, known: Known) -> Relation:
    if select.called:
        return called(bind_select(replace(select, called=()), known), select.called)
    if select.change is not None:
        return as_stream(replace(select, change=None), select.change, known, bind_select)
    if select.policies.as_relation:
        return bind_select(over_relation(select), known)
    if any(isinstance(each.source, ast.Pivot | ast.Unpivot) for each in _inputs(select.relation)):
        return bind_select(_unturned(select, known, bind_select), known)
    if _is_set_operation(select.relation.source):
        return bind_select(*_set_operation(select, known, bind_select))
    with aliases_explained(select):
        return _bound_select(select, known)


def _inputs(source: ast.From) -> Iterator[ast.From]:
    """Those of a join in brackets, too."""
    yield source
    for right in (join.right for join in source.joins):
        within = right.source.relation if isinstance(right.source, ast.Select) else None
        yield from _inputs(within) if within is not None and right.open else (right,)


def _unturned(select: ast.Select, known: Known, bind: Bind) -> ast.Select:
    from sqlwin.sql.select.pivots import unturned

    relation = unturned(select.relation, with_ctes(select, known, bind), bind)
    return replace(select, relation=relation)


def _is_set_operation(source: object) -> bool:
    return isinstance(source, ast.Union) and source.kind != "UNION"


def _set_operation(select: ast.Select, known: Known, bind: Bind) -> tuple[ast.Select, Known]:
    from sqlwin.sql.select.set_operations import set_operation

    return set_operation(select, with_ctes(select, known, bind), bind)


def _grouped(select: ast.Select) -> ast.Select:
    if [run.text.strip().upper() for run in select.group] != ["ALL"]:
        return select
    from sqlwin.sql.select.groups.group_all import by_all  # by need

    return by_all(select)


def _refuse(select: ast.Select) -> None:
    for part in select.refused:
        raise refused(part.text, part.span, "one SELECT a query")


def _bound_select(select: ast.Select, known: Known) -> Relation:
    _refuse(select)
    select = sliding(by_call(_grouped(select)))
    around = two_queries(select, known, bind_select)
    if around is not None:
        return bind_select(around, known)
    select, known = inner(select, with_ctes(select, known, bind_select))
    relation, given = input_of(select, known, bind_select)
    ttl = of_hints(select, relation)
    reads = tuple(dict.fromkeys((*relation.names, *relation.reads)))
    relation, select = taken_in(select, relation, ttl)
    if select.instants is not None:
        rest = known, select.instants, above_rows(select)
        select, relation, given = at_instants(select, relation, given, *rest)
    if given is None:
        relation, given = _below(select, relation)
    window, group = group_window(select, given, known.zone)
    runs = select.items
    made = items(runs, relation, () if window is None else window.named)
    for tree, run in above_window(select, made) if window is not None or select.group else ():
        same_window(tree, run, select.group)
    if given is None:
        relation, window = window_of_rows(select, relation, known, window, made, group)
    if given is not None and window is not None and alone(select):
        bound, refused_rows = _rows_of(select, relation, window, made)
        bound = replace(bound, ttl=relation.ttl if ttl is None else ttl, reads=reads)
        from sqlwin.sql.select.groups.open_rows import with_open_window  # by need

        return with_open_window(bound, select, relation, window, made, refused_rows)
    if window is not None and (rows := of_window(select, relation, window, made, group)):
        select, relation = rows
        window, made = None, items(runs, relation, ())
    if window is None and relation.stream is None and select.policies.span is not None:
        return bind_select(inward(select), known)
    bound = _bound(select, relation, window, made, group)
    if bound.base is not relation.base:
        policies = select.policies
        bound = replace(
            bound,
            emits=relation.emits or emits(policies),
            retains=relation.retains or retains(policies),
        )
    return replace(bound, ttl=relation.ttl if ttl is None else ttl, reads=reads)


def _below(select: ast.Select, relation: Relation) -> tuple[Relation, Window | None]:
    """The rows below a window whose rows are grouped by it, and the window."""
    if relation.opened is None:
        return relation, None
    from sqlwin.sql.select.groups.open_rows import of_open_window  # by need

    return of_open_window(select, relation) or (relation, None)


def _rows_of(
    select: ast.Select, relation: Relation, window: Window, made: list[Item]
) -> tuple[Relation, QueryError | None]:
    """The rows of a window, and why nothing but what groups them by it can read them."""
    unread = refusal(select, window, made, ())
    if unread is None:
        try:
            rows = of_window(select, relation, window, made, ())
            if rows is None:
                return _bound(select, relation, window, made, ()), None
            every = items(select.items, rows[1], ())
            return _bound(rows[0], rows[1], None, every, ()), None
        except QueryError as error:
            if window.group is None or not window.partition:
                raise
            unread = error
    return _bound(select, relation, replace(window, partition=()), made, ()), unread


def _bound(
    select: ast.Select,
    relation: Relation,
    window: Window | None,
    made: list[Item],
    group: Sequence[ast.Run],
) -> Relation:
    if window is not None:
        found = grouped(select, relation, window, made, group)
        by_message = select.instants is not None and window.bare
        return of_messages(found, select) if by_message else found
    relation = narrowed(relation, condition(select.where, relation), "WHERE")
    made = of_each_row(made, relation)
    if has_over(made, select.qualify):
        return over(select, relation, made)
    return _stateless(select, relation, made)


def _stateless(select: ast.Select, relation: Relation, made: list[Item]) -> Relation:
    stream = relation.stream
    if (
        stream is None
        or stream.of
        or select.policies
        != ast.Policies(changes=select.policies.changes, span=select.policies.span)
    ):
        refuse_all(select.policies, "this query has no window to emit or retain")
    scope = Scope(relation)
    trees = [(item.name, scope.resolved(item.tree, item.run), item.run) for item in made]
    columns = tuple((name, relation.below(tree, run), run) for name, tree, run in trees)
    bound = replace(relation, columns=columns, names=(), sides=(), merged=(), view="")
    opened = relation.opened
    return bound if opened is None else opened.projected(relation, bound, trees)
