"""A checkpoint of each version of the state goes on: late rows correct what it had emitted."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sqlwin
import sqlwin.spark
from sqlwin.runtime.checkpoint.versions import VERSION
from tests.support.state.checkpoint_fixtures import (
    AFTER,
    BEFORE,
    FOLDER,
    SINKS,
    TEXT,
    land,
    run_on_spark,
)

CHECKPOINTS = sorted(FOLDER.glob("checkpoint_v*"))
SPARK = [pytest.mark.spark, pytest.mark.long]
Rows = dict[str, dict[str, dict[str, Any]]]
"""By sink and row_key, the last revision."""


def taking(found: Rows) -> dict[str, Callable[[pa.Table, int], None]]:
    def taker(sink: str) -> Callable[[pa.Table, int], None]:
        def take(rows: pa.Table, batch: int) -> None:
            for row in rows.to_pylist():
                found[sink].pop(row["row_key"], None)
                if row["op"] != "-D":
                    found[sink][row["row_key"]] = row

        return take

    return {sink: taker(sink) for sink in SINKS}


def values(found: Rows) -> dict[str, list[tuple[Any, ...]]]:
    """Without what tells of changes."""
    return {
        sink: sorted(tuple(row.values())[:-4] for row in rows.values())
        for sink, rows in found.items()
    }


def going_on(home: Path, taken: Rows, on_spark: bool) -> int:
    """Over the checkpoint that is there; how many rows were read."""
    text = (home / "q.sql").read_text()
    if on_spark:
        return run_on_spark(text, home, drain=True, **taking(taken))
    return sqlwin.run(text, home, home / "state", drain=True, sinks=taking(taken)).read


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(path, id=path.name, marks=SPARK if path.name.endswith("_spark") else ())
        for path in CHECKPOINTS
    ],
)
def test_it_goes_on(tmp_path: Path, made: Path, request: pytest.FixtureRequest) -> None:
    """Where it was copied to; on Spark its state can be queried there, too."""
    on_spark = made.name.endswith("_spark")
    shutil.copytree(made, tmp_path / "kept")
    if on_spark:
        state = sqlwin.spark.state(request.getfixturevalue("spark"), tmp_path / "kept" / "state")
        assert state.windows(key="tea").num_rows == 2
    found: Rows = {sink: {} for sink in SINKS}
    land(tmp_path / "first", "1", BEFORE)  # what the sinks had before it
    first = tmp_path / "first"
    sqlwin.run(TEXT, first, first / "state", sinks=taking(found))
    land(tmp_path / "kept", "2", AFTER)
    assert going_on(tmp_path / "kept", found, on_spark) == len(AFTER) * len(SINKS), (
        "and not what was read before"
    )
    whole: Rows = {sink: {} for sink in SINKS}
    land(tmp_path / "whole", "1", BEFORE + AFTER)
    sqlwin.run(TEXT, tmp_path / "whole", sinks=taking(whole))
    assert values(found) == values(whole)
    assert found["minutes"].keys() == whole["minutes"].keys()


def test_there_is_one_of_this_version() -> None:
    names = {f"checkpoint_v{VERSION}", f"checkpoint_v{VERSION}_spark"}
    assert names <= {path.name for path in CHECKPOINTS}
