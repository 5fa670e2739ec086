"""The table of a run beside Flink: on the screen, as JSON, and in docs/benchmarks.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.flink.contenders import FLINK, Contender, Measured
from bench.flink.queries import FLINK as TEXTS
from bench.flink.queries import QUERIES
from bench.report import SHAPE_TITLES, draw, markdown, put

BEGIN = '<!-- table: make bench ARGS="--flink --write-docs" -->'
HEAD = (
    "query", "keys", "by", "rows a batch", "rows", "rows/s", "by Flink's fastest", "memory, MB",
)  # fmt: skip
LEFT = 3


@dataclass(frozen=True)
class Row:
    query: str
    shape: str
    contender: Contender
    measured: Measured


@dataclass(frozen=True)
class Beside:
    """machine, data: in words. failed: what was left out, and why."""

    machine: str
    data: str
    rows: tuple[Row, ...]
    failed: tuple[str, ...] = ()


def show(found: Beside) -> None:
    draw(f"{found.machine}\n{found.data}", HEAD, LEFT, cells(found.rows))


def write_docs(result: Path, page: Path) -> None:
    found = load(result)
    title = f"{found.machine}. {found.data}"
    lines = [*markdown(title, HEAD, LEFT, cells(found.rows))]
    notes = [f"- Left out: {failure}" for failure in found.failed]
    put(page, BEGIN, [*lines, *([""] if notes else []), *notes])


def load(path: Path) -> Beside:
    saved = json.loads(path.read_text(encoding="utf-8"))
    rows = tuple(map(_row, saved["rows"]))
    return Beside(saved["machine"], saved["data"], rows, tuple(saved["failed"]))


def _row(saved: dict[str, Any]) -> Row:
    contender, measured = Contender(**saved["contender"]), Measured(**saved["measured"])
    return Row(saved["query"], saved["shape"], contender, measured)


def cells(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    for row in rows:
        found = row.measured
        yield (
            QUERIES[row.query].title,
            SHAPE_TITLES[row.shape],
            _title(row),
            f"{row.contender.batch:,}" if row.contender.batch else "",
            f"{found.rows:,}",
            f"{'below ' if found.slower else ''}{found.rate:,.0f}",
            ratio(row, _fastest(rows, row)),
            "" if found.peak is None else f"{found.peak / 1e6:,.0f}",
        )


def _title(row: Row) -> str:
    note = TEXTS[row.query].note if row.contender.engine == FLINK else ""
    return f"{row.contender.title}; {note}" if note else row.contender.title


def _fastest(rows: Sequence[Row], beside: Row) -> Measured | None:
    """Of Flink's runs of the same query that were through, else of those that were not."""
    found = [
        row.measured
        for row in rows
        if (row.query, row.shape) == (beside.query, beside.shape) and row.contender.engine == FLINK
    ]
    return max(found, key=lambda each: (not each.slower, each.rate), default=None)


def ratio(row: Row, flink: Measured | None) -> str:
    """Where Flink's rate is only known to be below something, the ratio is above it."""
    if flink is None or (row.measured.slower and flink.slower):
        return ""
    sign = "below " if row.measured.slower else "above " if flink.slower else ""
    times = row.measured.rate / flink.rate
    return f"{sign}{times:.2f}" if times < 10 else f"{sign}{times:,.0f}"
