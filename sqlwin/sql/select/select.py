"""SELECT: from the AST to a relation over a plan node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.sql.expressions.scalars import parsed, word
from sqlwin.sql.over.ranks import EXAMPLE as RANK
from sqlwin.sql.over.ranks import of_windows
from sqlwin.sql.over.select import has_over, over
from sqlwin.sql.relations.items import Item, called, items
from sqlwin.sql.relations.relation import Lengths, Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.select.aliases import aliases_explained
from sqlwin.sql.select.groups.cascades import cascaded
from sqlwin.sql.select.groups.grouped import grouped, ungrouped
from sqlwin.sql.select.groups.grouping import bare_calls
from sqlwin.sql.select.inside import inner
from sqlwin.sql.select.instants import at_instants, of_messages
from sqlwin.sql.select.row_windows import condition, of_each_row, sliding
from sqlwin.sql.select.streams import as_stream
from sqlwin.sql.select.windowed import by_itself, over_relation, windowed
from sqlwin.sql.sources.derived import derived, limited
from sqlwin.sql.sources.from_clause import (
    Known,
    View,
    bind_from,
    bound_below,
    narrowed,
    of_rows,
    timed,
)
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import quoted
from sqlwin.sql.windows.calls import zoned
from sqlwin.sql.windows.group_by import above_window, by_call, group_window, same_window
from sqlwin.sql.windows.ksql import of_ksql
from sqlwin.sql.windows.policies import emits, passing, refuse_all, retains
from sqlwin.sql.windows.ttl import of_hints
from sqlwin.sql.windows.window import Window, refused, whole


def bind_select(select: ast.Select, known: Known) -> Relation:
    if select.called:
        return called(bind_select(replace(select, called=()), known), select.called)
    if select.change is not None:
        return as_stream(replace(select, change=None), select.change, known, bind_select)
    if select.policies.as_relation:
        return bind_select(over_relation(select), known)
    if any(isinstance(each.source, ast.Pivot | ast.Unpivot) for each in _inputs(select.relation)):
        return bind_select(_unturned(select, known), known)
    if _is_set_operation(select.relation.source):
        return bind_select(*_set_operation(select, known))
    with aliases_explained(select):
        return _bound_select(select, known)


def _inputs(source: ast.From) -> Iterator[ast.From]:
    """Those of a join in brackets, too."""
    yield source
    for right in (join.right for join in source.joins):
        within = right.source.relation if isinstance(right.source, ast.Select) else None
        yield from _inputs(within) if within is not None and right.open else (right,)


def _unturned(select: ast.Select, known: Known) -> ast.Select:
    from sqlwin.sql.select.pivots import unturned

    relation = unturned(select.relation, _inside(select, known), bind_select)
    return replace(select, relation=relation)


def _is_set_operation(source: object) -> bool:
    return isinstance(source, ast.Union) and source.kind != "UNION"


def _set_operation(select: ast.Select, known: Known) -> tuple[ast.Select, Known]:
    from sqlwin.sql.select.set_operations import set_operation

    return set_operation(select, _inside(select, known), bind_select)


def _grouped(select: ast.Select) -> ast.Select:
    if [run.text.strip().upper() for run in select.group] != ["ALL"]:
        return select
    from sqlwin.sql.select.groups.group_all import by_all  # by need

    return by_all(select)


def _bound_select(select: ast.Select, known: Known) -> Relation:
    for part in select.refused:
        raise refused(part.text, part.span, "one SELECT a query")
    select = sliding(by_call(_grouped(select)))
    around = _around(select, known)
    if around is not None:
        return bind_select(around, known)
    select, known = inner(select, _inside(select, known))
    relation, given = _from(select, known)
    ttl = of_hints(select, relation)
    reads = tuple(dict.fromkeys((*relation.names, *relation.reads)))
    relation, select = _taken_in(select, relation, ttl)
    if select.instants is not None:
        rest = known, select.instants, _above_rows(select)
        select, relation, given = at_instants(select, relation, given, *rest)
    window, group = group_window(select, given, known.zone)
    runs = select.items
    made = items(runs, relation, () if window is None else window.edges)
    for tree, run in above_window(select, made) if window is not None or select.group else ():
        same_window(tree, run, select.group)
    if given is None:
        relation, window = _rows(select, relation, known, window, made, group)
    if window is not None and (rows := _of_window(select, relation, window, made, group)):
        select, relation = rows
        window, made = None, items(runs, relation, ())
    if window is None and relation.stream is None and select.policies.span is not None:
        return bind_select(_inward(select), known)
    bound = _bound(select, relation, window, made, group)
    if bound.base is not relation.base:
        policies = select.policies
        bound = replace(
            bound,
            emits=relation.emits or emits(policies),
            retains=relation.retains or retains(policies),
        )
    return replace(bound, ttl=relation.ttl if ttl is None else ttl, reads=reads)


def _around(select: ast.Select, known: Known) -> ast.Select | None:
    """The same as two queries, one in the other's FROM, where it means two."""
    if select.distinct is not None:
        return _once(select, known, select.distinct)
    return _under_over(select, known) if _has_over(select) else None


def _has_over(select: ast.Select) -> bool:
    return select.qualify is not None or any(run.overs for run in select.items)


def _under_over(select: ast.Select, known: Known) -> ast.Select | None:
    """Groups, or rows of windows, as a query of their own below OVER."""
    from sqlwin.sql.select.over.groups import over_groups
    from sqlwin.sql.select.over.rows import over_rows

    groups = over_groups(
        select, lambda groups: bound_below(groups, _inside(select, known), bind_select)
    )
    return groups or over_rows(select)


def _taken_in(
    select: ast.Select, relation: Relation, ttl: Lengths | None
) -> tuple[Relation, ast.Select]:
    """Without what a join, or MATCH_RECOGNIZE, in FROM has taken in."""
    policies = select.policies if _above_rows(select) else ast.Policies()
    if select.relation.joins:
        return replace(relation, ttl=ttl), replace(select, where=None, policies=policies)
    if select.relation.match is not None:
        return relation, replace(select, policies=policies)
    return relation, select


def _once(select: ast.Select, known: Known, span: Span) -> ast.Select:
    """Each row of a query once: its rows, grouped by all their columns."""
    rows = select.relation.joins and not _above_rows(select)
    below = passing(select.policies) if rows else ast.Policies()
    inner = replace(select, distinct=None, policies=replace(below, retain_rows=None), ctes=())
    columns = bound_below(inner, _inside(select, known), bind_select).columns
    named = tuple(quoted(name, span) for name, _, _ in columns)
    return ast.Select(
        named,  # and not *, which has the window's columns, too
        ast.From(inner),
        select.span,
        group=named,
        policies=select.policies,
        ctes=select.ctes,
        ttl=select.ttl,
        instants=select.instants,
    )


def _inside(select: ast.Select, known: Known) -> Known:
    """What the query may name: its common table expressions, too."""
    known = known.inner()
    known.early = known.early or _early(select.policies)
    known.retain = max(known.retain, _retain(select.policies))
    for at, (name, cte) in enumerate(select.ctes):
        if name.text.lower() in [other.text.lower() for other, _ in select.ctes[:at]]:
            message = f"two queries of this WITH are called {name.text}"
            raise QueryError(message, name.span, legal="another name")
        known.views[name.text.lower()] = View.of(name, cte, known, bind_select)
        known.relation(name)
    return known


def _rows(
    select: ast.Select,
    relation: Relation,
    known: Known,
    window: Window | None,
    made: list[Item],
    group: Sequence[ast.Run],
) -> tuple[Relation, Window | None]:
    """What the query goes over, and by which window, where none is in FROM."""
    own = window or _whole(select, made, group)
    if own is None:
        over_rows = has_over(made, select.qualify) and not of_windows(select, relation, made)
        limited_ = limited(relation, select.where)
        return derived(limited_, known) if over_rows else relation, None
    relation = derived(limited(relation, select.where), known)
    if window is None:
        relation, own = cascaded(relation, own, made, group)
    return timed(relation, own), own


def _early(given: ast.Policies) -> bool:
    return given.early is not None or given.changes is not None


def _retain(given: ast.Policies) -> int:
    return 0 if given.retain is None else given.retain.micros


def _from(select: ast.Select, known: Known) -> tuple[Relation, Window | None]:
    """A join has taken in WHERE and the policies, too; where a window is over it, RETAIN alone."""
    if select.relation.joins:
        from sqlwin.sql.joins.relation import joined  # by need: most queries join nothing

        if _above_rows(select):
            below = replace(passing(select.policies), retain_rows=None)  # n rows of a group
            select = replace(select, policies=below)
        rows, above = joined(select, known, bind_select), select.relation.above
        if above is None:
            return rows, None
        over = zoned(of_ksql(above), known.zone)
        return timed(derived(rows, known), over), over
    if select.relation.match is not None:
        from sqlwin.sql.matches.relation import matched  # by need

        given = passing(select.policies) if _above_rows(select) else select.policies
        return matched(select.relation, given, known, bind_select), None
    found, window = bind_from(select.relation, known, bind_select)
    if _above_rows(select) or select.policies.span is not None:
        found = of_rows(found, select.relation.source.span)
    return found, window


def _above_rows(select: ast.Select) -> bool:
    """Whether the query does more with rows than to take them as they come."""
    clauses = (select.having, select.qualify, select.relation.above)
    if select.group or any(clause is not None for clause in clauses):
        return True
    return any(run.overs or any(bare_calls(parsed(run), run)) for run in select.items)


def _inward(select: ast.Select) -> ast.Select:
    """The query with its policies moved to the one in FROM, which has the window."""
    inner, span = select.relation.source, select.policies.span
    if not isinstance(inner, ast.Select):
        message = "the window stands in a query that has a name; its policies stand there too"
        raise QueryError(message, span, legal="EMIT and RETAIN beside the window")
    if inner.policies.span is not None:
        message = "the query in FROM, which has the window, has policies of its own"
        raise QueryError(message, span, legal="EMIT and RETAIN once")
    moved = replace(inner, policies=select.policies)
    source = replace(select.relation, source=moved)
    return replace(select, relation=source, policies=ast.Policies())


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


def _whole(select: ast.Select, made: list[Item], group: Sequence[ast.Run]) -> Window | None:
    """The whole stream, where something is grouped or aggregated with no window."""
    span = group[0].span if group else _aggregate_place(made)
    if span is None and select.having is not None:
        if not list(bare_calls(parsed(select.having), select.having)):
            message = "HAVING needs a window, a GROUP BY or an aggregate"
            raise QueryError(message, select.having.span, legal="WHERE, or a window in FROM")
        span = select.having.span
    return None if span is None else whole(span)


def _aggregate_place(made: list[Item]) -> Span | None:
    """Of the first aggregate of a select list that has nothing with an OVER clause."""
    if has_over(made):
        return None
    found = (word(call, item.run) for item in made for call in bare_calls(item.tree, item.run))
    return next(found, None)


def _of_window(
    select: ast.Select,
    relation: Relation,
    window: Window,
    made: list[Item],
    group: Sequence[ast.Run],
) -> tuple[ast.Select, Relation] | None:
    """The rows of a window, where nothing else is wanted: all as they come, or its relation."""
    if _bare(select, window, made, group):
        return select, relation
    if window.frame is None or not by_itself(select, window, made):
        return None
    return replace(select, policies=ast.Policies()), windowed(select, relation, window)


def _bare(select: ast.Select, window: Window, made: list[Item], group: Sequence[ast.Run]) -> bool:
    """Whether rows are wanted as they come: no aggregate and no key to group by.

    What enters a window of all there was, and never leaves it, is each row itself.
    """
    if window.session is not None:
        _refuse_rows(select, window, made)
    if not ungrouped(select, window, made, group):
        return False
    if window.group is not None and not window.counts:
        return False  # the rows of each window, ranked or not
    if has_over(made, select.qualify):
        message = "OVER and a window of the stream in one query are not supported yet"
        legal = "ranks of the rows of a window of TUMBLE, HOP or CUMULATE; or OVER alone"
        raise QueryError(message, window.span, legal=legal)
    if window.frame is None:
        message = "a window without an aggregate or GROUP BY is not supported yet"
        raise QueryError(message, window.span, legal="COUNT(*), SUM(value), … or GROUP BY")
    return window.frame.preceding is None


def _refuse_rows(select: ast.Select, window: Window, made: list[Item]) -> None:
    """Of sessions there are aggregates: what a row's session is may change with each row."""
    calls = (call for item in made for call in bare_calls(item.tree, item.run))
    if select.group or select.having or next(calls, None) is not None:
        return
    runs = [*(item.run for item in made), *([select.qualify] if select.qualify else [])]
    over = next((target.span for run in runs for target in run.overs), None)
    if over is not None:
        message = "ranks of the rows of a session are not supported yet"
        raise QueryError(message, over, legal=f"GROUP BY, and ranks of its groups: {RANK}")
    message = "a session without an aggregate or GROUP BY is not supported yet"
    raise QueryError(message, window.span, legal="COUNT(*), SUM(value), … or GROUP BY")


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
    columns = tuple(
        (item.name, relation.below(scope.resolved(item.tree, item.run), item.run), item.run)
        for item in made
    )
    return replace(relation, columns=columns, names=(), sides=(), merged=(), view="")
