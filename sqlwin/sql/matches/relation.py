"""FROM … MATCH_RECOGNIZE (…): the rows of its matches, as a relation over a MatchRecognize."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.plan.ir.matches import MatchRecognize
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.properties.changelog import lateness
from sqlwin.policies import Policy
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.scalars import Expr, column, parsed
from sqlwin.sql.matches import clauses
from sqlwin.sql.matches.pattern import pattern
from sqlwin.sql.matches.terms import Terms
from sqlwin.sql.relations.below import Below
from sqlwin.sql.relations.items import unique
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.sources.derived import derived
from sqlwin.sql.sources.event_time import event_time, ordered, stream_time
from sqlwin.sql.sources.from_clause import bind_from, of_rows
from sqlwin.sql.sources.known import Bind, Known
from sqlwin.sql.text import ast
from sqlwin.sql.windows.policies import final, retains
from sqlwin.sql.windows.policy_clauses import emits


def matched(source: ast.From, given: ast.Policies, known: Known, bind: Bind) -> Relation:
    """given: the policies, which are of the matches."""
    spec = source.match
    assert spec is not None
    relation = _rows(source, spec, known, bind)
    stream = relation.stream
    assert stream is not None
    all_rows = clauses.all_rows(spec)
    made = pattern(spec.pattern, all_rows)
    within = clauses.within(spec)
    names = clauses.names(made, spec)
    terms = Terms(Below(relation), Scope(relation), names, all_rows is not None)
    partition = tuple(dict.fromkeys(_key(run, terms) for run in spec.partition))
    conditions = tuple(terms.condition(names.spelled(name.text), run) for name, run in spec.define)
    measures = [(name, terms.over(run, name.text), run) for run, name in spec.measures]
    rows = () if all_rows is None else tuple(_kept(relation, partition, terms))
    first = [row for row in rows if row[1].name == stream.ts]
    columns = (
        *((key, column(key), run) for key, run in zip(partition, spec.partition, strict=False)),
        *first,
        *((name.text, tree, run) for name, tree, run in measures),
        *(row for row in rows if row not in first),
    )
    if not columns:
        message = "a match without PARTITION BY and MEASURES has no columns"
        raise QueryError(message, spec.span, legal="MEASURES FIRST(a.ts) AS start_ts")
    named = [*rows, *(each for each in columns if each not in rows)]
    unique([(name, run) for name, _, run in named])
    node = MatchRecognize(
        terms.below.project(),
        partition,
        made,
        conditions,
        tuple(terms.found.values()),
        clauses.after(spec, made, names, all_rows),
        within,
        _policy(given, within, stream),
        all_rows,
        tuple(tree.name for _, tree, _ in rows),
    )
    return Relation(
        node,
        columns,
        relation.names,
        reads=tuple(dict.fromkeys((*relation.names, *relation.reads))),
        ttl=relation.ttl,
        emits=emits(given),
        retains=retains(given),
    )


def _rows(source: ast.From, spec: ast.MatchRecognize, known: Known, bind: Bind) -> Relation:
    found, window = bind_from(replace(source, match=None), known, bind)
    if window is not None:
        message = "MATCH_RECOGNIZE goes over rows, and not over a window of them"
        raise QueryError(message, spec.span, legal="FROM orders MATCH_RECOGNIZE (…)")
    relation = ordered(derived(of_rows(found, source.source.span), known), event_time(spec.order))
    return stream_time(relation, spec.span)


def _kept(
    relation: Relation, partition: tuple[str, ...], terms: Terms
) -> Iterator[tuple[str, Expr, ast.Run]]:
    """Columns of the rows of a match, by the names that they have there."""
    for name, _, run in relation.columns:
        below = terms.below.add(column(name), run, "value")
        if below not in partition:
            yield name, column(below), run


def _key(run: ast.Run, terms: Terms) -> str:
    tree = parsed(run)
    refuse_calls(tree, run, "PARTITION BY")
    resolved = terms.scope.resolved(tree, run)
    if not isinstance(resolved, exp.Column):
        message = "MATCH_RECOGNIZE is partitioned by columns"
        raise QueryError(message, run.span, legal="FROM (SELECT *, UPPER(name) AS key FROM …)")
    return terms.below.add(resolved, run, "key")


def _policy(given: ast.Policies, within: int | None, stream: Stream) -> Policy:
    if given.retain_rows is not None:
        message = "RETAIN n ROWS of MATCH_RECOGNIZE is not supported yet"
        raise QueryError(message, given.retain_rows.span, legal="RETAIN 1 HOUR")
    rules = final(given, within, lateness(stream))
    if given.changes is not None:  # of each change there is, and none is early
        rules = replace(rules, early=None)
    if rules.early is not None:
        message = "a match has no early result: it is known when no row can change it"
        raise QueryError(message, given.span, legal="EMIT LATE ON UPDATE, EMIT FINAL")
    if rules.timeout is not None:
        message = "TIMEOUT of MATCH_RECOGNIZE is not supported yet"
        raise QueryError(message, given.span, legal="WITHIN INTERVAL '1' HOUR")
    return rules
