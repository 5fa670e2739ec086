"""How often a batch reaches its sink where a run is killed and goes on, and by what.

A batch has a number, under which it is written again. What was shown on a screen cannot be taken
back, and is no delivery.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.plan.ir.statements import Sink
from sqlwin.plan.options.connectors import PARTITIONED, SINKS, connector_of

_TABLE = "exactly once, a batch is a transaction, with its number"
_LAKE = "exactly once, a batch is a commit of the table, with its number"
BY_CONNECTOR = {
    "delta": _LAKE,
    "duckdb": _TABLE,
    "files": "exactly once, a batch is a file named by its number",
    "iceberg": _LAKE,
    "kafka": "exactly once, a batch is a transaction of Kafka",
    "postgres": _TABLE,
    "python": (
        "at least once, a function gets a batch again with its number; exactly once if it "
        "replaces what it has under that number"
    ),
    "sqlite": _TABLE,
}
FOLDERS = "exactly once, a batch is a file in each folder, named by its number"


def delivery(sink: Sink | None, errors: Sink | None) -> Iterator[str]:
    """A line for each of the two that keeps rows. errors: of the error stream."""
    for what, each in (("Delivery", sink), ("Delivery of errors", errors)):
        options = {} if each is None else dict(each.options)
        guarantee = BY_CONNECTOR.get(connector_of(options, SINKS))
        if PARTITIONED in options:
            guarantee = FOLDERS
        if guarantee is not None:
            yield f"{what}: {guarantee}"
