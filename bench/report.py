"""The table of a whole benchmark: on the screen, as JSON, and in docs/benchmarks.md."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.data import RATE
from bench.queries import QUERIES
from bench.run import Outcome, outcome_of
from bench.variants import PACKED, VARIANTS

HOME = Path(__file__).parents[1]
BUILD = HOME / "build" / "bench"
PAGE = HOME / "docs" / "benchmarks.md"
BEGIN, END = "<!-- table: python -m bench --write-docs -->", "<!-- end of table -->"
SHAPE_TITLES = {"zipf": "1,000 keys, Zipf", "uniform": "100,000 keys, uniform"}
HEAD = (
    "query", "keys", "variant", "rows", "start-up, s", "first batch, s", "rows/s after it",
    "sqlwin is",
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A variant's median run over one shape. ratio: the packed operator's rate over this one's."""

    query: str
    shape: str
    variant: str
    outcome: Outcome
    repeats: int
    ratio: float | None = None


@dataclass(frozen=True)
class Report:
    """machine, data: in words."""

    machine: str
    data: str
    lines: tuple[Line, ...]


def with_ratios(lines: Iterable[Line]) -> tuple[Line, ...]:
    every = list(lines)
    packed = {
        (line.query, line.shape): _rate(line) for line in every if line.variant == PACKED.name
    }
    return tuple(_against(line, packed.get((line.query, line.shape))) for line in every)


def _against(line: Line, packed: float | None) -> Line:
    ratio = None if packed is None else packed / _rate(line)
    return Line(line.query, line.shape, line.variant, line.outcome, line.repeats, ratio)


def _rate(line: Line) -> float:
    assert line.outcome.figures is not None
    return line.outcome.figures.rate


def show(report: Report) -> None:
    draw(f"{report.machine}\n{report.data}", HEAD, 3, _cells(report))


def draw(title: str, head: Sequence[str], left: int, rows: Iterable[Sequence[str]]) -> None:
    """left: how many of the first columns are words."""
    table = Table(title=title, title_justify="left")
    for at, name in enumerate(head):
        table.add_column(name, justify="left" if at < left else "right")
    for cells in rows:
        table.add_row(*cells)
    Console(width=160).print(table)


def save(report: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(report), indent=1), encoding="utf-8")


def write_docs(report: Path, page: Path) -> None:
    """Put the saved report's table between the page's marks."""
    found = load(report)
    put(page, BEGIN, markdown(f"{found.machine}. {found.data}", HEAD, 3, _cells(found)))


def put(page: Path, begin: str, lines: Iterable[str]) -> None:
    """The lines in the place of what is between the mark `begin` and the next end of a table."""
    before, mark, rest = page.read_text(encoding="utf-8").partition(begin)
    if not mark:
        raise ValueError(f"{page} has no line {begin}")
    _, _, after = rest.partition(END)
    table = "\n".join(lines)
    page.write_text(f"{before}{begin}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def load(path: Path) -> Report:
    saved = json.loads(path.read_text(encoding="utf-8"))
    return Report(saved["machine"], saved["data"], tuple(map(_line, saved["lines"])))


def _line(saved: dict[str, Any]) -> Line:
    return Line(**{**saved, "outcome": outcome_of(saved["outcome"])})


def markdown(
    title: str, head: Sequence[str], left: int, rows: Iterable[Sequence[str]]
) -> Iterator[str]:
    yield title
    yield ""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * left + "--:|" * (len(head) - left)
    for cells in rows:
        yield "| " + " | ".join(cells) + " |"


def _cells(report: Report) -> Iterator[tuple[str, ...]]:
    for line in report.lines:
        figures = line.outcome.figures
        assert figures is not None
        yield (
            QUERIES[line.query].title,
            SHAPE_TITLES[line.shape],
            VARIANTS[line.variant].title,
            f"{figures.rows:,}",
            f"{figures.startup:.1f}",
            f"{figures.first:.1f}",
            f"{figures.rate:,.0f}",
            _times(line),
        )


def _times(line: Line) -> str:
    """How many times as fast as this line sqlwin on Spark is."""
    if line.variant == PACKED.name:
        return "1"
    return "" if line.ratio is None else f"{line.ratio:.1f} times as fast"


def machine(cores: int) -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GB, "
        f"{platform.system()}, Python {platform.python_version()}, local[{cores}]"
    )


def amount(rows: int) -> str:
    return f"{rows:,} rows, {rows / RATE / 60:.3g} minutes of event time"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
