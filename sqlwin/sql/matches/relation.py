"""FROM … MATCH_RECOGNIZE (…): the rows of its matches, as a relation over a MatchRecognize."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.patterns import AfterMatch, Pattern, Skip, begins, variables
from sqlwin.plan.ir.matches import MatchRecognize
from sqlwin.plan.ir.nodes import Scan, Stream
from sqlwin.plan.properties.changelog import changing, lateness
from sqlwin.policies import Policy
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.scalars import column, parsed
from sqlwin.sql.matches.pattern import pattern
from sqlwin.sql.matches.terms import Terms
from sqlwin.sql.relations.below import Below
from sqlwin.sql.relations.items import unique
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.sources.derived import derived
from sqlwin.sql.sources.from_clause import (
    Bind,
    Known,
    bind_from,
    event_time,
    of_rows,
    ordered,
    stream_time,
)
from sqlwin.sql.syntax.parser import duration
from sqlwin.sql.text import ast
from sqlwin.sql.windows.policies import emits, final, retains

SKIPS = "PAST LAST ROW, TO NEXT ROW, TO FIRST a, TO LAST a"


def matched(source: ast.From, given: ast.Policies, known: Known, bind: Bind) -> Relation:
    """given: the policies, which are of the matches."""
    spec = source.match
    assert spec is not None
    relation = _rows(source, spec, known, bind)
    stream = relation.stream
    assert stream is not None
    made = pattern(spec.pattern)
    if spec.all_rows is not None:
        message = "ALL ROWS PER MATCH is not supported yet"
        raise QueryError(message, spec.all_rows, legal="ONE ROW PER MATCH, with MEASURES")
    within = _within(spec)
    terms = Terms(Below(relation), Scope(relation), _named(made, spec))
    partition = tuple(dict.fromkeys(_key(run, terms) for run in spec.partition))
    conditions = tuple(
        terms.condition(terms.variables[name.text.lower()], run) for name, run in spec.define
    )
    measures = [(name, terms.over(run, name.text), run) for run, name in spec.measures]
    columns = (
        *((key, column(key), run) for key, run in zip(partition, spec.partition, strict=False)),
        *((name.text, tree, run) for name, tree, run in measures),
    )
    if not columns:
        message = "a match without PARTITION BY and MEASURES has no columns"
        raise QueryError(message, spec.span, legal="MEASURES FIRST(a.ts) AS start_ts")
    unique([(name, run) for name, _, run in columns])
    node = MatchRecognize(
        terms.below.project(),
        partition,
        made,
        conditions,
        tuple(terms.found.values()),
        _after(spec, made, terms.variables),
        within,
        _policy(given, within, stream),
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
    relation = stream_time(relation, spec.span)
    stream = relation.stream
    if stream is not None and (stream.changelog is not None or changing(Scan(stream))):
        message = "MATCH_RECOGNIZE over rows that may be retracted is not supported yet"
        legal = "a stream; a query whose results stay: EMIT FINAL, ISTREAM(SELECT …)"
        raise QueryError(message, spec.span, legal=legal)
    return relation


def _named(made: Pattern, spec: ast.MatchRecognize) -> dict[str, str]:
    """Variables by their names in lower case; a name may be written in several ways."""
    names: dict[str, str] = {}
    for name in variables(made):
        names.setdefault(name.lower(), name)
    seen: set[str] = set()
    for defined, _ in spec.define:
        key = defined.text.lower()
        if key not in names:
            message = f"{defined.text} is no variable of the pattern"
            raise QueryError(message, defined.span, legal=", ".join(variables(made)))
        if key in seen:
            raise QueryError(f"{defined.text} is defined twice", defined.span, legal="AND")
        seen.add(key)
    return names


def _key(run: ast.Run, terms: Terms) -> str:
    tree = parsed(run)
    refuse_calls(tree, run, "PARTITION BY")
    resolved = terms.scope.resolved(tree, run)
    if not isinstance(resolved, exp.Column):
        message = "MATCH_RECOGNIZE is partitioned by columns"
        raise QueryError(message, run.span, legal="FROM (SELECT *, UPPER(name) AS key FROM …)")
    return terms.below.add(resolved, run, "key")


def _within(spec: ast.MatchRecognize) -> int | None:
    if spec.within is None:
        return None
    made = duration(spec.within)
    if made is None or made.micros <= 0:
        message = "WITHIN takes a duration greater than 0"
        raise QueryError(message, spec.within.span, legal="WITHIN INTERVAL '1' HOUR")
    return made.micros


def _after(spec: ast.MatchRecognize, made: Pattern, named: dict[str, str]) -> AfterMatch:
    if spec.after is None:
        return AfterMatch()
    words = spec.after.original.replace("`", "").split()
    upper = [word.upper() for word in words]
    whole = {"PAST LAST ROW": Skip.PAST_LAST_ROW, "TO NEXT ROW": Skip.NEXT_ROW}.get(" ".join(upper))
    if whole is not None:
        return AfterMatch(whole)
    if upper[:1] != ["TO"] or len(words) not in (2, 3):
        raise QueryError("this is no place to skip to", spec.after.span, legal=SKIPS)
    name, side = words[-1], upper[1] if len(words) == 3 else "LAST"
    if side not in ("FIRST", "LAST"):
        raise QueryError("this is no place to skip to", spec.after.span, legal=SKIPS)
    if name.lower() not in named:
        message = f"{name} is no variable of the pattern"
        raise QueryError(message, spec.after.span, legal=", ".join(named.values()))
    if side == "FIRST" and begins(made) == {named[name.lower()]}:
        message = f"each match begins with {name}, so the next one would be the same"
        raise QueryError(message, spec.after.span, legal="TO NEXT ROW, or another variable")
    return AfterMatch(Skip.FIRST if side == "FIRST" else Skip.LAST, named[name.lower()])


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
