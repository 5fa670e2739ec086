"""RSTREAM of joins whose rows come and go with others': outer, SEMI and ANTI joins, and windows
that advance or hold the last rows. Such a join gives the changes of its relation; see
`sqlwin.windows.stays`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import Node, StaticScan
from sqlwin.plan.properties.changelog import lateness
from sqlwin.plan.properties.facts import join_of, streams_of
from sqlwin.policies import Policy
from sqlwin.sql.joins.kinds import join_type
from sqlwin.sql.joins.stays import LEGAL
from sqlwin.sql.relations.event_times import INSTANT
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.sources.known import Known
from sqlwin.sql.text import ast
from sqlwin.sql.windows.policies import policy
from sqlwin.sql.windows.window import of_spec
from sqlwin.windows import Unit
from sqlwin.windows.stays import JoinStays

if TYPE_CHECKING:
    from sqlwin.sql.joins.tree import Pair

THERE, IDENTITY = "is there", "known by"
"""Columns of changes, and none of a relation: the query above does not see them."""


def by_changes(source: ast.From, known: Known) -> bool:
    """Whether the relation of a join is made of changes: rows of it come back, or others say when
    they leave."""
    if any(_advances(each.window) for each in (source, *(join.right for join in source.joins))):
        return True
    for join in source.joins:
        type_ = join_type(join.word)
        looks_up = type_.asof or join.right.as_of is not None or _static(join.right, known)
        if type_.kind != "inner" and not looks_up:
            return True
    return False


def _advances(spec: ast.Spec | ast.KsqlWindow | None) -> bool:
    if not isinstance(spec, ast.Spec) or spec.session is not None or spec.frame is None:
        return False
    window = of_spec(spec)
    return window.counts or window.group is not None


def _static(source: ast.From, known: Known) -> bool:
    name = source.source
    return isinstance(name, ast.Name) and isinstance(known.relation(name).base, StaticScan)


def match_of(pair: Pair, left: Relation, right: Relation) -> JoinStays:
    """left, right: of what it joins; the left may be another such join."""
    own, before = pair.right.input.stay, changes_of(left)
    first = pair.left.leaves[0].input.stay if before is None else before.changes
    assert own is not None and first is not None
    names = {name for each in (left, right) for name, _, _ in each.columns}
    instant, there, identity = (_free(name, names) for name in (INSTANT, THERE, IDENTITY))
    ends = first.ends if before is None else before.bounded
    bounded = _bounded(pair.kind, ends, own.ends)
    return JoinStays(Unit.RANGE, None, None, first, own, instant, there, identity, bounded)


def refuse_more(pair: Pair, within: ast.Within | None) -> None:
    """QueryError for what says otherwise which rows pair."""
    span = pair.word.span if within is None else within.span
    if within is not None or pair.op is not None:
        message = "RSTREAM of this join goes by the windows of its inputs alone"
        raise QueryError(message, span, legal=LEGAL)


def changes_of(relation: Relation) -> JoinStays | None:
    """The join of which it has the changes."""
    stream = relation.stream
    if stream is None or not stream.of:
        return None
    join = join_of(stream.of[0])
    return None if join is None else join.stays


def _bounded(kind: str, left: bool, right: bool) -> bool:
    """Whether each row of the result leaves some time."""
    if kind in ("inner", "semi"):
        return left or right
    if kind in ("left", "anti"):
        return left
    return right if kind == "right" else left and right


def _free(name: str, names: set[str]) -> str:
    while name in names:
        name += "_"
    return name


def policy_of(given: ast.Policies, below: tuple[Node, Node], span: Span) -> Policy:
    """RETAIN is waited for, 0 if it is not given: the delay of a watermark is for late rows.

    Results of other queries are waited for as long as they are corrected.
    """
    emits = (given.early, given.late, given.final, given.on_close, given.timeout, given.retain_rows)
    if any(emits) or (given.expired is not None and given.expired.how == "EMIT"):
        message = (
            "RSTREAM of this join emits each instant once, as the watermark passes it by RETAIN"
        )
        raise QueryError(message, given.span, legal="RETAIN of a time, EXPIRED INTO, EXPIRED COUNT")
    late = [lateness(s) for node in below for s in streams_of(node) if s.of]
    if None in late:
        name = next(s.name for node in below for s in streams_of(node) if lateness(s) is None)
        message = f"rows of {name} may be retracted however late, and RSTREAM emits each once"
        raise QueryError(message, span, legal=f"EMIT FINAL, or a RETAIN, in {name}")
    return policy(given, 0, max((each for each in late if each is not None), default=0))
