"""The sink of a WITH clause that names a table of a lake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlwin.plan.options.table_options import table_name
from sqlwin.runtime.lakes.delta import DeltaLake
from sqlwin.runtime.lakes.iceberg import IcebergLake
from sqlwin.runtime.lakes.lake import Lake
from sqlwin.runtime.lakes.lake_sink import LakeAppends, LakeTarget, LakeUpserts
from sqlwin.runtime.tables.sink_options import (
    Options,
    check_append,
    creates,
    restart_of,
    results_of,
    waits,
)
from sqlwin.system.secrets import clear


def _delta(options: Options, base: Path) -> Lake:
    path = options["path"]
    return DeltaLake(path if "://" in path else str(base / path))


def _iceberg(options: Options, base: Path) -> Lake:
    given = [(name, clear(options[name])) for name in ("uri", "warehouse") if name in options]
    table = table_name(options["table"])
    return IcebergLake(options.get("catalog", "default"), tuple(given), table)


LAKES: dict[str, Callable[[Options, Path], Lake]] = {"delta": _delta, "iceberg": _iceberg}
"""By connector: of options, and the folder that a path is relative to."""


def lake_sink(
    sink: str, options: Options, base: Path, writer: int, appends: bool
) -> LakeAppends | LakeUpserts:
    """As `table_sink`."""
    lake = LAKES[options["connector"]](options, base)
    target = LakeTarget(results_of(sink, options), lake, creates(options), waits(options))
    if appends:
        check_append(sink, options)
        return LakeAppends(target, writer)
    return LakeUpserts(target, restart_of(sink, options, writer), writer)
