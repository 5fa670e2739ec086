"""The settings of SET: how a script runs on Spark; results do not depend on them.

Names that begin with `spark.` are Spark's own, but for those that sqlwin needs as it sets them.

>>> given = (("buckets", "8"), ("spark.sql.shuffle.partitions", "4"))
>>> run_settings(given).buckets, spark_settings(given)
(8, {'spark.sql.shuffle.partitions': '4'})
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlwin.lazy_dataclass import dataclass

SETTINGS: Mapping[str, str] = {
    "batch.bytes": "bytes of files that one batch reads",
    "buckets": "into how many parts the keys of each query are cut; a checkpoint keeps its own",
}

DOUBLE_QUOTED = "sql.double-quoted-identifiers"
"""Of the text alone: whether names are in double quotes, see `sqlwin.sql.text.double_quoted`."""


@dataclass(frozen=True)
class RunSettings:
    """None: what the host chooses."""

    batch_bytes: int | None = None
    buckets: int | None = None


def run_settings(given: tuple[tuple[str, str], ...]) -> RunSettings:
    """Of `Script.settings`, which were checked when the script was bound."""
    known = {name: int(value) for name, value in given if name in SETTINGS}
    return RunSettings(known.get("batch.bytes"), known.get("buckets"))


SPARK = "spark."
FIXED: Mapping[str, str] = {
    "spark.sql.streaming.stateStore.providerClass": "state is in RocksDB",
    "spark.sql.session.timeZone": "the zone of a script is its SET 'time.zone'",
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "a manifest checks checkpoints",
}
"""Those of Spark that a query needs as they are, and why."""


def spark_settings(given: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Spark's own among `Script.settings`."""
    return {name: value for name, value in given if name.startswith(SPARK)}
