"""A query as a notebook shows it: what it reads and how far, what it gave, its plan."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol

from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.rows import html
from sqlwin.runtime.rows.results import PlanText, Results
from sqlwin.schema import type_name


class Shown(Protocol):
    """What is asked of the query; nothing of it changes results."""

    @property
    def streams(self) -> tuple[str, ...]: ...

    def stream(self, stream: str) -> Stream: ...

    def watermark(self, stream: str) -> datetime | None: ...

    def pushed(self, stream: str) -> int: ...

    def results(self, clear: bool) -> Results: ...

    def table(self) -> Results: ...

    def refused(self) -> dict[str, int]: ...

    def explain(self) -> PlanText: ...


def page(query: Shown) -> str:
    """Streams, counts, and the plan behind a click."""
    streams = [_stream(query, name) for name in query.streams]
    counts = list(_counts(query))
    return "".join(
        (
            html.table(("stream", "columns", "rows", "watermark"), streams, len(streams)),
            html.table(("counted", "rows"), counts, len(counts)),
            html.details("Plan", query.explain()._repr_html_()),
        )
    )


def _stream(query: Shown, name: str) -> tuple[object, ...]:
    columns = ", ".join(f"{c.name} {type_name(c.type)}" for c in query.stream(name).columns)
    return name, columns, query.pushed(name), query.watermark(name)


def _counts(query: Shown) -> Iterator[tuple[object, ...]]:
    yield "results that wait", query.results(clear=False).num_rows
    yield "results that stand", query.table().num_rows
    for reason, rows in sorted(query.refused().items()):
        yield f"not taken: {reason}", rows
