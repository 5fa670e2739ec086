"""What a query may name: streams, tables, views and files, and what of each is bound already.

Invariant: a view is bound once for all that read it with the same settings (`View.relation`), and
by what it may name itself, which is not what its reader may name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any

from sqlwin.errors import QueryError
from sqlwin.functions.core.session_zone import session_zone
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.ir.statements import Sink
from sqlwin.sql.relations.relation import Relation, nearest, of_stream
from sqlwin.sql.sources.changelogs import present
from sqlwin.sql.sources.derived import derived, entitled
from sqlwin.sql.sources.files import NamedFiles
from sqlwin.sql.sources.readers import read_below
from sqlwin.sql.text import ast

Bind = Callable[[ast.Select, "Known"], Relation]


@dataclass(frozen=True)
class View:
    """A named query. known: what it may name itself; made: its relations, by who reads it.

    reads, depth: see `read_below`.
    """

    name: str
    select: ast.Select
    known: Known
    bind: Bind
    reads: int
    depth: int
    made: dict[tuple[object, ...], Relation] = field(default_factory=dict)

    @staticmethod
    def of(name: ast.Name, select: ast.Select, known: Known, bind: Bind) -> View:
        """QueryError where it reads more than can be bound."""
        return View(name.text, select, known.inner(), bind, *read_below(select, name, known.views))

    def relation(self, reader: Known) -> Relation:
        """As it is for a query with the settings of `reader`."""
        settings = (reader.early, reader.retain, reader.shared, reader.large, reader.zone)
        key = (*settings, session_zone(), tuple(reader.ttl.items()))
        if key not in self.made:
            known = self.known.inner()
            known.early, known.retain, known.shared = reader.early, reader.retain, reader.shared
            known.large, known.ttl, known.zone = reader.large, reader.ttl, reader.zone
            self.made[key] = self.bind(self.select, known)
        return self.made[key]


@dataclass
class Known:
    """What a query may name; keys in lower case. tables: static ones.

    large: what SET says of the windows of joins; None: nothing. ttl: what it says of state.
    early: whether a query around asks for early results. retain: the longest RETAIN of those
    around. shared: views that are read more than once, each a stage of its own, so that it
    is computed once. zone: by whose clocks windows of days go; None: UTC. bound: see `bound_below`.
    inline: see the function of this name. declared: what CREATE says of streams and tables.
    optioned: see its module.
    """

    streams: dict[str, Stream] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    sinks: dict[str, Sink] = field(default_factory=dict)
    tables: dict[str, Stream] = field(default_factory=dict)
    large: bool | None = None
    ttl: dict[str, Any] = field(default_factory=dict)
    early: bool = False
    retain: int = 0
    shared: frozenset[str] = frozenset()
    zone: str | None = None
    files: NamedFiles = field(default_factory=NamedFiles)
    inline: dict[Stream, Stream] = field(default_factory=dict)
    declared: dict[str, ast.CreateStream] = field(default_factory=dict)
    optioned: dict[Stream, Stream] = field(default_factory=dict)
    bound: dict[int, tuple[ast.Select, Relation]] = field(default_factory=dict)

    def has(self, key: str) -> bool:
        """Whether something has the name, in lower case."""
        return key in self.files.streams or any(key in kind for kind in self.kinds())

    def kinds(self) -> tuple[dict[str, Any], ...]:
        """Of what is declared, each by its name."""
        return self.streams, self.views, self.sinks, self.tables

    def names(self) -> list[str]:
        return [*(stream.name for stream in self.streams.values()), *self.views]

    def relation(self, name: ast.Name) -> Relation:
        if isinstance(name, ast.Inline):
            from sqlwin.sql.sources.inline import inline  # by need

            return of_stream(inline(name, self.inline, self.has), static=True)
        if isinstance(name, ast.File):
            return of_stream(self.files.stream(name, self.has))
        if isinstance(name, ast.Optioned):
            return self._optioned(name)
        key = name.text.lower()
        if key in self.views:
            view = replace(self.views[key].relation(self), names=(name.text,))
            view = entitled(view, name.text)
            return derived(view, self) if key in self.shared else view
        if key in self.streams:
            return of_stream(present(self.streams[key], self.ttl)).called(name.text)
        if key in self.tables:
            return of_stream(self.tables[key], static=True).called(name.text)
        legal = ", ".join(self.names()) or "CREATE STREAM … first"
        if key in self.sinks:
            raise QueryError(f"{name.text} is a sink and cannot be read", name.span, legal=legal)
        message = f"no stream or view is called {name.text}{nearest(name.text, self.names())}"
        raise QueryError(message, name.span, legal=legal)

    def _optioned(self, name: ast.Optioned) -> Relation:
        from sqlwin.sql.sources.optioned import source  # by need

        hidden = name.text.lower() in self.views
        stream, static = source(name, {} if hidden else self.declared, self.optioned, self.has)
        made = stream if static else present(stream, self.ttl)
        return of_stream(made, static).called(name.text)

    def inner(self) -> Known:
        return replace(self, views=dict(self.views))
