"""What FROM and INSERT name with a hint OPTIONS: the declaration, with these over its options.

    FROM orders /*+ OPTIONS('path' = 'old/*.jsonl') */ o JOIN orders n ON …

Two uses with different options are two sources, each read by itself; one that differs from the
declaration has a number behind its name in error streams, metrics and checkpoints. Equal ones are
one source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count

from sqlwin.errors import QueryError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.ir.statements import Sink
from sqlwin.plan.options.checks import check
from sqlwin.plan.options.connectors import SINKS
from sqlwin.sql.sources.declared import declarations
from sqlwin.sql.text import ast
from sqlwin.system.secrets import hidden

LEGAL = "a stream or table that CREATE declares, a sink behind INSERT INTO"


def source(
    name: ast.Optioned,
    declared: Mapping[str, ast.CreateStream],
    made: dict[Stream, Stream],
    taken: Callable[[str], bool],
) -> tuple[Stream, bool]:
    """And whether it is a static table. made: those met so far, by what they are. QueryError where
    the declaration could not have these options."""
    created = declared.get(name.text.lower())
    if created is None:
        message = f"OPTIONS are over those of a declaration, and {name.text} has none"
        raise QueryError(message, name.span, legal=LEGAL)
    options = tuple(sorted({**dict(created.options), **dict(name.options)}.items()))
    changed = replace(created, options=options, span=name.span, places=name.places)
    found = declarations.stream(changed)
    if found != declarations.stream(created):
        if found not in made:
            names = {each.name.lower() for each in made.values()}
            numbered = (f"{found.name}_{n}" for n in count(2))
            free = (n for n in numbered if n.lower() not in names and not taken(n.lower()))
            made[found] = replace(found, name=next(free))
        found = made[found]
    return found, declarations.is_static(changed)


def sink(name: ast.Optioned, found: Sink) -> Sink:
    """What INSERT writes to; QueryError where it could not have these options."""
    options = hidden(tuple(sorted({**dict(found.options), **dict(name.options)}.items())))
    check(f"sink {name.text}", dict(options), SINKS, name.span, places=dict(name.places))
    return replace(found, options=options)
