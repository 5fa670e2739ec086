"""What an OVER clause says in full: named windows looked up, ORDER BY read.

>>> from sqlwin.errors import Span
>>> run = ast.Run("price DESC", "price DESC", Span(1, 1))
>>> (key,) = keys(ast.Spec(Span(1, 1), order=(run,)))
>>> key.ordered.this.sql(), key.descending
('price', True)
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.properties.processing_time import is_clock
from sqlwin.schema import TIMESTAMP
from sqlwin.sql.expressions.calls import AggregateCall, refuse_calls
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.relations.event_times import candidates
from sqlwin.sql.relations.relation import Relation, nearest
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.sources.event_time import ordered
from sqlwin.sql.text import ast
from sqlwin.sql.windows.frames import Time

Named = dict[str, ast.Spec]


def named_windows(select: ast.Select) -> Named:
    """By their names in lower case."""
    found: Named = {}
    for name, spec in select.windows:
        if name.text.lower() in found:
            raise QueryError(f"the window {name.text} is given twice", name.span, legal="once")
        found[name.text.lower()] = spec
    return found


def opened(target: ast.Name | ast.Spec, named: Named) -> ast.Spec:
    """The whole window, with what it takes from a named one."""
    spec = _based(target, named, ())
    if spec.session is not None and spec.frame is not None:
        message = "SESSION is a frame, and there is another"
        raise QueryError(message, spec.session.span, legal="either of them")
    if spec.advance is not None:
        message = "ADVANCE BY belongs to a window of the stream"
        raise QueryError(message, spec.advance.span, legal="FROM orders OVER (… ADVANCE BY …)")
    if spec.exclude is not None and spec.frame is None and spec.session is None:
        message = "EXCLUDE follows a frame"
        legal = f"ROWS UNBOUNDED PRECEDING EXCLUDE {spec.exclude.text}"
        raise QueryError(message, spec.exclude.span, legal=legal)
    return spec


def _based(target: ast.Name | ast.Spec, named: Named, seen: tuple[str, ...]) -> ast.Spec:
    if isinstance(target, ast.Name):
        base = _window_named(target, named, seen)
        return replace(_based(base, named, (*seen, target.text.lower())), span=target.span)
    if target.base is None:
        return target
    base = _based(target.base, named, seen)
    twice = (target.order and base.order) or (framed(target) and framed(base))
    if target.partition or twice:
        message = f"the window {target.base.text} has this already"
        raise QueryError(message, target.span, legal="what the named window leaves open")
    return replace(
        base,
        span=target.span,
        order=target.order or base.order,
        frame=target.frame or base.frame,
        exclude=target.exclude or base.exclude,
        advance=target.advance,
        session=target.session or base.session,
    )


def framed(spec: ast.Spec) -> ast.FrameSpec | ast.SessionSpec | None:
    """Its frame, if it has one."""
    return spec.frame or spec.session


def _window_named(target: ast.Name, named: Named, seen: tuple[str, ...]) -> ast.Spec:
    found = named.get(target.text.lower())
    if found is None or target.text.lower() in seen:
        what = "is made of itself" if found else "is not declared" + nearest(target.text, named)
        legal = ", ".join(named) or f"WINDOW {target.text} AS (…) after FROM and WHERE"
        raise QueryError(f"the window {target.text} {what}", target.span, legal=legal)
    return found


def refuse_frame(spec: ast.Spec, call: AggregateCall, legal: str) -> None:
    frame = framed(spec)
    if frame is not None:
        message = f"{call.function.name.upper()} takes no frame"
        raise QueryError(message, frame.span, legal=legal)


# --- ORDER BY -------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """One expression of ORDER BY, its columns not yet resolved."""

    ordered: exp.Ordered
    run: ast.Run

    @property
    def descending(self) -> bool:
        return bool(self.ordered.args.get("desc"))


def keys(spec: ast.Spec) -> tuple[Key, ...]:
    made = []
    for run in spec.order:
        tree = parsed(run, exp.Ordered)
        assert isinstance(tree, exp.Ordered)
        refuse_calls(tree, run, "ORDER BY of a window over rows")
        made.append(Key(tree, run))
    return tuple(made)


def time_of(relation: Relation, order: tuple[Key, ...], fixed: bool = False) -> Time | None:
    """How rows are ordered by event time, None where another key is the first.

    fixed: of a derived stream the query has chosen its event time; another column is a key then.

    Of a stream that declares no event time, any TIMESTAMP column may be it. Behind it the
    OFFSET in the same direction is the order of positions; anything else is a key.
    """
    stream = relation.stream
    assert stream is not None
    names = [_column(relation, key) for key in order]
    ts = _by_clock(stream, names[0]) or stream.ts or _instant(relation, names[0])
    if stream.of and fixed:
        ts = stream.ts
    elif stream.of:
        ts = names[0] if names[0] in candidates(stream) else None
    if ts is None or names[0] != ts:
        return None
    one_way = len({key.descending for key in order}) == 1
    behind = names[1:] == [stream.offset] and stream.offset is not None
    by_position = behind and one_way
    return Time(order[0].descending, by_position, keyed=len(order) > 1 and not by_position)


def _by_clock(stream: Stream, name: str | None) -> str | None:
    """The column, if it is processing time."""
    return name if name is not None and is_clock(stream, name) else None


def _column(relation: Relation, key: Key) -> str | None:
    """The stream's column that the key is, None for any other expression."""
    tree: Expr = relation.below(Scope(relation).resolved(key.ordered.this, key.run))
    return tree.name if isinstance(tree, exp.Column) else None


def _instant(relation: Relation, name: str | None) -> str | None:
    types = {column.name: column.type for column in relation.base.schema}
    return name if name is not None and types[name] == TIMESTAMP else None


def timed_by(relation: Relation, order: tuple[Key, ...]) -> Relation:
    """The relation with the event time that ORDER BY begins with; as it is with another key."""
    if time_of(relation, order) is None:
        return relation
    first = order[0]
    assert isinstance(first.ordered.this, exp.Column)
    name = ".".join(part.name for part in first.ordered.this.parts)
    return ordered(relation, ast.Name(name, first.run.span))
