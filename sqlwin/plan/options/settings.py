"""The settings of SET: how a script runs on Spark; results do not depend on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SETTINGS: Mapping[str, str] = {
    "batch.bytes": "bytes of files that one batch reads",
    "buckets": "into how many parts the keys of each query are cut; a checkpoint keeps its own",
}


@dataclass(frozen=True)
class RunSettings:
    """None: what the host chooses."""

    batch_bytes: int | None = None
    buckets: int | None = None


def run_settings(given: tuple[tuple[str, str], ...]) -> RunSettings:
    """Of `Script.settings`, which were checked when the script was bound."""
    known = {name: int(value) for name, value in given}
    return RunSettings(known.get("batch.bytes"), known.get("buckets"))
