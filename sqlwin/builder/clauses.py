"""The clauses of a SELECT, and their text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from sqlwin.builder.text import (
    clause,
    column,
    listed,
    name,
)
from sqlwin.builder.windows import Window
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream

EDGES = ("`window_start`", "`window_end`")
OF_WINDOW = ""
"""In a list of items: the window's columns, of the window that the query has in the end."""


@dataclass(frozen=True)
class SelectClauses:
    """source: what stands in FROM, without its window. time: its column of event time. declared,
    static: the streams and static tables that are read, by name. items, group: with their names
    where they have one. policies: EMIT, RETAIN and so on, by their first word. joined: the source
    is a join.
    """

    source: str
    time: str | None = None
    declared: Mapping[str, Stream] = field(default_factory=dict)
    static: Mapping[str, Stream] = field(default_factory=dict)
    sliced: Window | None = None
    called: str | None = None
    group: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    once: bool = False
    clauses: tuple[tuple[str, tuple[str, ...]], ...] = ()
    policies: tuple[tuple[str, str], ...] = ()
    joined: bool = False

    @property
    def _bare(self) -> bool:
        """Whether it is what it reads, without a clause."""
        return not (self.group or self.items or self.once or self.clauses or self.policies)

    def sql(self) -> str:
        """The SELECT."""
        items = listed(self._listed()) if self.items else "*"
        lines = [f"SELECT {'DISTINCT ' if self.once else ''}{items}", f"FROM {self.relation()}"]
        clauses = dict(self.clauses)
        lines += clause("WHERE", clauses)
        group = self._group()
        lines += [f"GROUP BY {listed(group)}"] if group else []
        lines += [*clause("HAVING", clauses), *clause("QUALIFY", clauses)]
        lines += clauses.get("LIMIT", ())
        return "\n".join([*lines, *(text for _, text in self.policies)])

    def relation(self, as_of: str | None = None) -> str:
        """What stands in FROM, with its window and its name."""
        text = self.source if self.sliced is None else self.sliced.of(self.source, self.time)
        text += "" if as_of is None else f" FOR SYSTEM_TIME AS OF {column(as_of)}"
        return text if self.called is None else f"{text} AS {name(self.called)}"

    def _listed(self) -> list[str]:
        """What is selected, with the columns of the window in their place."""
        edges = () if self.sliced is None else (*self._partition(), *EDGES)
        fresh = [edge for edge in edges if edge not in self.items]
        return [each for item in self.items for each in (fresh if item == OF_WINDOW else [item])]

    def _group(self) -> tuple[str, ...]:
        """The keys, and the window's edges where it is a key."""
        if self.sliced is None or not self.sliced.grouped or OF_WINDOW not in self.items:
            return self.group
        return tuple(dict.fromkeys((*self.group, *self._partition(), *EDGES)))

    def _partition(self) -> tuple[str, ...]:
        """Of the window, where no other keys are given."""
        return () if self.sliced is None or self.group else self.sliced.partition
