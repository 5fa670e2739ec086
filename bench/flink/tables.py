"""What Flink is told: its settings, its tables, and the statement of a query.

Two subtasks, as sqlwin has two cores. Flink's source of files gives them to its readers in no
order, and rows of later files would make those of earlier ones late: so there is one file a reader,
each in the order of time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bench.flink.queries import FLINK
from bench.queries import DELAY_SECONDS, STREAMS, Query

TYPES = {
    name: type
    for type, names in {
        "BIGINT": ("key", "value", "n", "total", "top", "other"),
        "TIMESTAMP(3)": ("ts", "other_ts", "window_start", "window_end"),
        "DOUBLE": ("middle",),
    }.items()
    for name in names
}
HEAP, MANAGED = "4g", "1g"
"""Of the JVM; and of RocksDB, outside of it."""
SETTINGS = {
    "execution.target": "local",
    "table.local-time-zone": "UTC",
    "rest.bind-port": "0",
    "taskmanager.memory.managed.size": MANAGED,
}
TUNED = {
    "pipeline.object-reuse": "true",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.size": "5000",
}


@dataclass(frozen=True)
class Setup:
    """state: a state backend of Flink's. tuned: objects are reused, rows come in mini-batches."""

    name: str
    title: str
    state: str
    tuned: bool


SETUPS = {
    setup.name: setup
    for setup in (
        Setup("heap", "Flink SQL, heap", "hashmap", tuned=False),
        Setup("heap-tuned", "Flink SQL, heap, objects reused, mini-batches", "hashmap", tuned=True),
        Setup("rocksdb", "Flink SQL, RocksDB", "rocksdb", tuned=False),
        Setup("rocksdb-tuned", "Flink SQL, RocksDB, objects reused, mini-batches", "rocksdb", True),
    )
}


def checkpoints(seconds: float, folder: Path) -> dict[str, str]:
    """None with 0 seconds. A job does not wait for a last one after its end."""
    if not seconds:
        return {}
    return {
        "execution.checkpointing.interval": f"{seconds:g} s",
        "execution.checkpointing.dir": folder.as_uri(),
        "execution.checkpointing.incremental": "true",
        "execution.checkpointing.checkpoints-after-tasks-finish": "false",
    }


def settings(setup: Setup, cores: int) -> dict[str, str]:
    slots = {"parallelism.default": str(cores), "taskmanager.numberOfTaskSlots": str(cores)}
    tuned = TUNED if setup.tuned else {}
    return {**SETTINGS, **slots, "state.backend.type": setup.state, **tuned}


def sources(folders: list[Path]) -> list[str]:
    """The streams, a folder each."""
    return [
        f"CREATE TABLE {name} (key BIGINT, `value` BIGINT, ts TIMESTAMP(3), "
        f"WATERMARK FOR ts AS ts - INTERVAL '{DELAY_SECONDS}' SECOND) "
        f"WITH ('connector' = 'filesystem', 'path' = '{folder.as_uri()}', 'format' = 'csv')"
        for name, folder in zip(STREAMS, folders, strict=False)
    ]


def sink(query: Query, results: Path | None) -> str:
    """results: a folder for the answer as CSV; None keeps none."""
    columns = ", ".join(f"`{name}` {TYPES[name]}" for name in query.columns)
    options = (
        "'connector' = 'blackhole'"
        if results is None
        else f"'connector' = 'filesystem', 'path' = '{results.as_uri()}', 'format' = 'csv'"
    )
    return f"CREATE TABLE answers ({columns}) WITH ({options})"


def insert(query: Query) -> str:
    return f"INSERT INTO answers {FLINK[query.name].text}"


def reading(query: Query) -> str:
    """The answer that Flink left, as a relation of DuckDB's for `differences`."""
    types = ", ".join(f"'{name}': '{TYPES[name].partition('(')[0]}'" for name in query.columns)
    return f"read_csv('{{results}}/**', columns = {{{{{types}}}}}, header = false)"
