"""SELECT over a window: keys, aggregates and the window's columns.

Every group window becomes a WindowAggregate, and so does GROUP BY without one, over
the whole stream; a sliding window of a stream, one for each row or instant, an
OverAggregate that shows nothing of the row but its keys. Expressions around
aggregates stay in the Project above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream, WindowAggregate
from sqlwin.plan.properties.changelog import changing, lateness, refuse_weighted
from sqlwin.policies import Policy
from sqlwin.sql.expressions.scalars import Expr, column, parsed
from sqlwin.sql.over.above import aliased, no_over
from sqlwin.sql.over.clauses import named_windows
from sqlwin.sql.over.ranks import Output, Ranks, refuse_filtered
from sqlwin.sql.relations.below import Below
from sqlwin.sql.relations.items import Item
from sqlwin.sql.relations.relation import Base, Columns, Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.relations.window_columns import WINDOW
from sqlwin.sql.select.groups.checks import check_session, check_sliding, refuse_sets
from sqlwin.sql.select.groups.grouping import Grouping, bare_calls
from sqlwin.sql.select.groups.grouping_sets import grouping_sets
from sqlwin.sql.select.groups.keys import aliases, key_sets, keys
from sqlwin.sql.sources.from_clause import filtering, narrowed
from sqlwin.sql.text import ast
from sqlwin.sql.windows.discarding import BARE, RANKED, discarding, refuse_discarding
from sqlwin.sql.windows.policies import by_order, counted, final, of_sessions, queried, unending
from sqlwin.sql.windows.sessions import OpenSession
from sqlwin.sql.windows.sliding import over_result, sliding
from sqlwin.sql.windows.window import Window
from sqlwin.windows.frames import Frame
from sqlwin.windows.group import Whole

_WHERE = "WHERE; use HAVING"


@dataclass(frozen=True)
class Operator:
    """What a window operator needs besides its input, keys and aggregates.

    partition: of the stream window. where: of a window that counts. sets: by names.
    """

    window: Window
    policy: Policy
    partition: tuple[str, ...] = ()
    where: str | None = None
    sets: tuple[tuple[str, ...], ...] = ()


def grouped(
    select: ast.Select,
    relation: Relation,
    window: Window,
    items: Sequence[Item],
    group: Sequence[ast.Run],
) -> Relation:
    """`group`: the items of GROUP BY that are not the window itself."""
    # A tuple window counts messages before WHERE, so there it stays out of the Filter.
    below = relation if window.counts else narrowed(relation, select.where, _WHERE)
    sets = grouping_sets(group)
    refuse_sets(window, group, sets is not None)
    scope = Scope(relation, windowed=bool(window.named))
    rows = ungrouped(select, window, items, group)
    grouping = Grouping(Below(below), scope, window.edges, sets is not None, rows)
    partition = keys(grouping, window.partition, items)
    named = keys(grouping, group if sets is None else [run for one in sets for run in one], items)
    check_sliding(window, select, partition, named)
    partition = named if window.keyed else partition
    check_session(window, select, partition, named)
    stream = relation.stream
    assert stream is not None
    if rows and select.policies.retain_rows is not None:
        message = "RETAIN n ROWS counts rows of a key, and here each row is its own"
        raise QueryError(message, select.policies.retain_rows.span, legal="RETAIN 1 HOUR")
    # each set has sessions of its own: of those keys of the session key that it has
    partition_keys = () if window.session is not None else partition
    operator = Operator(
        window,
        discarding(select.policies, window, lambda rest: _policy(rest, window, stream)),
        tuple(dict.fromkeys(partition)),
        _counted_where(grouping, select.where) if window.counts else None,
        () if sets is None else key_sets(grouping, sets, items, partition_keys),
    )
    grouping.ranks = Ranks(named_windows(select), _output(grouping, items))
    columns = _columns(grouping, items)
    having = _having(grouping, select, items)
    qualify = _qualify(grouping, select, items, columns)
    if window.frame is not None and window.counts and stream.of:
        grouping.ranks.refuse_sliding()
        return _over_result(grouping, operator, window.frame, columns, having, select)
    if not grouping.aggregates:
        refuse_discarding(select.policies, BARE)
    base = _operator(grouping, operator)
    if operator.policy.discards and isinstance(base, WindowAggregate) and changing(base.input):
        refuse_weighted(base, select.policies.discarding)
    if grouping.ranks.spec is None:
        return Relation(base, columns, (), having, select.having or select.items[0])
    refuse_discarding(select.policies, RANKED)
    refuse_filtered(having, select.having or select.items[0])
    ranked = grouping.ranks.over(base)
    return Relation(ranked, columns, (), qualify, select.qualify or select.items[0])


def _output(grouping: Grouping, items: Sequence[Item]) -> Output:
    """What ranks go by: expressions of keys and aggregates, and aliases of such."""
    plain = [item for item in items if not item.run.overs]

    def output(tree: Expr, run: ast.Run) -> Expr:
        scope = replace(grouping.scope, aliases=aliases(grouping.scope, plain, run, tree))
        resolved = scope.resolved(tree, run)
        if grouping.rows and not any(c.table == WINDOW for c in resolved.find_all(exp.Column)):
            return column(grouping.key(resolved, run))
        return grouping.above(resolved, run, None)

    return output


def ungrouped(
    select: ast.Select, window: Window, items: Sequence[Item], group: Sequence[ast.Run]
) -> bool:
    """Whether rows are asked for as they are, each in its windows: no key and no aggregate."""
    if select.group or select.having or window.partition or group:
        return False
    return not any(True for item in items for _ in bare_calls(item.tree, item.run))


def _qualify(
    grouping: Grouping, select: ast.Select, items: Sequence[Item], columns: Columns
) -> Expr | None:
    run = select.qualify
    if run is None:
        return None
    pairs = zip(items, columns, strict=True)
    made = {item.alias: above for item, (_, above, _) in pairs if item.alias}
    tree = aliased(parsed(run), made, grouping.scope.relation)
    predicate = grouping.above(grouping.scope.resolved(tree, run), run, None)
    if grouping.ranks.spec is None:
        raise no_over(run)
    return predicate


def _policy(given: ast.Policies, window: Window, stream: Stream) -> Policy:
    if window.counts and stream.of:
        return by_order(given, window.frame, lateness(stream))
    if window.counts:
        return counted(given, slides=window.group is None)
    if window.session is not None:
        gap = window.session.constant or 0
        late, grace = lateness(stream), window.grace
        return queried(given, window, lambda rest: of_sessions(rest, gap, late, grace))
    if isinstance(window.group, Whole):
        return unending(given)
    if window.group is None:
        return final(given, window.length, lateness(stream), window.grace)
    kept = (0, 0) if given.final is not None else (window.length, lateness(stream))
    return queried(given, window, lambda rest: final(rest, *kept, window.grace))


def _counted_where(grouping: Grouping, where: ast.Run | None) -> str | None:
    if where is None:
        return None
    return grouping.below.condition(filtering(grouping.below.relation, where, _WHERE), where)


def _columns(grouping: Grouping, items: Sequence[Item]) -> Columns:
    made = []
    for item in items:
        tree = grouping.scope.resolved(item.tree, item.run)
        made.append((item.name, grouping.above(tree, item.run, item.alias), item.run))
    return tuple(made)


def _having(grouping: Grouping, select: ast.Select, items: Sequence[Item]) -> Expr | None:
    if select.having is None:
        return None
    tree = parsed(select.having)
    scope = replace(grouping.scope, aliases=aliases(grouping.scope, items, select.having, tree))
    return grouping.above(scope.resolved(tree, select.having), select.having, None)


def _operator(grouping: Grouping, operator: Operator) -> Base:
    names = tuple(dict.fromkeys((*operator.partition, *grouping.keys)))
    aggregates = tuple(grouping.aggregates.values())
    window = operator.window
    group = window.group
    if group is None:
        assert window.frame is not None
        rest = (window.frame, operator.policy, operator.where)
        return sliding(grouping.below, aggregates, names, *rest)
    group = group.closed(grouping.below) if isinstance(group, OpenSession) else group
    return WindowAggregate(
        grouping.below.project(),
        group,
        names,
        aggregates,
        operator.policy,
        operator.partition if window.counts or window.session else (),
        operator.where,
        operator.sets,
        grouping.rows,
    )


def _over_result(
    grouping: Grouping,
    operator: Operator,
    frame: Frame,
    columns: Columns,
    having: Expr | None,
    select: ast.Select,
) -> Relation:
    names = tuple(dict.fromkeys((*operator.partition, *grouping.keys)))
    aggregates = tuple(grouping.aggregates.values())
    rest = (frame, operator.policy, operator.where, columns, having)
    run = select.having or select.where or select.items[0]
    return over_result(grouping.below, aggregates, names, *rest, run)
