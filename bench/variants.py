"""What is measured: which variants, and over which queries.

A variant is a name and two functions: the process's start, and the run itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.queries import CHAIN, JOIN, OVER, SESSION, TUMBLE

BOTH = (TUMBLE.name, OVER.name)
ALL = (*BOTH, SESSION.name, JOIN.name, CHAIN.name)


@dataclass(frozen=True)
class Variant:
    """engine: the module that runs it. way: which of its ways. slow: runs over fewer rows."""

    name: str
    title: str
    engine: str
    way: str = ""
    queries: tuple[str, ...] = BOTH
    slow: bool = False


PACKED = Variant("packed", "sqlwin on Spark (packed)", "packed", queries=ALL)
ROW_PANDAS = Variant(
    "row-pandas", "row at a time, transformWithStateInPandas", "baselines", "pandas", slow=True
)
ROW_ROWS = Variant("row-rows", "row at a time, transformWithState", "baselines", "rows", slow=True)
WINDOW = Variant(
    "window",
    "Spark's window() or session_window(), append mode",
    "baselines",
    "append",
    (TUMBLE.name, SESSION.name, CHAIN.name),
)
WINDOW_UPDATE = Variant(
    "window-update", "Spark's window(), update mode", "baselines", "update", (TUMBLE.name,)
)
STREAM_JOIN = Variant(
    "stream-join", "Spark's stream-stream join", "baselines", "append", (JOIN.name,)
)
EMBEDDED = Variant("embedded", "sqlwin in process", "embedded", queries=ALL)

VARIANTS = {
    variant.name: variant
    for variant in (PACKED, ROW_PANDAS, ROW_ROWS, WINDOW, WINDOW_UPDATE, STREAM_JOIN, EMBEDDED)
}
