"""A checkpoint of each version of the state goes on: late rows correct what it had emitted."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import sqlwin
import sqlwin.spark
from sqlwin.runtime.checkpoint.task_state import VERSION
from tests.support.state.checkpoint_fixtures import AFTER, BEFORE, FOLDER, SINKS, TEXT, land

ON_SPARK = sorted(FOLDER.glob("checkpoint_v*_spark"))
CHECKPOINTS = sorted({*FOLDER.glob("checkpoint_v*")} - {*ON_SPARK})
if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


@pytest.mark.parametrize("made", CHECKPOINTS, ids=[path.name for path in CHECKPOINTS])
def test_it_goes_on(tmp_path: Path, made: Path) -> None:
    shutil.copytree(made, tmp_path / "kept")
    found: Rows = {sink: {} for sink in SINKS}
    land(tmp_path / "first", "1", BEFORE)  # what the sinks had before it
    state = tmp_path / "first" / "state"
    sqlwin.run(TEXT, tmp_path / "first", state, sinks=taking(found))
    text = (tmp_path / "kept" / "q.sql").read_text()
    land(tmp_path / "kept", "2", AFTER)
    kept = tmp_path / "kept"
    summary = sqlwin.run(text, kept, kept / "state", drain=True, sinks=taking(found))
    assert summary.read == len(AFTER) * len(SINKS), "and not what was read before"
    whole: Rows = {sink: {} for sink in SINKS}
    land(tmp_path / "whole", "1", BEFORE + AFTER)
    sqlwin.run(TEXT, tmp_path / "whole", sinks=taking(whole))
    assert values(found) == values(whole)
    assert found["minutes"].keys() == whole["minutes"].keys()


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("made", ON_SPARK, ids=[path.name for path in ON_SPARK])
def test_its_state_is_queried_on_spark(tmp_path: Path, made: Path, spark: SparkSession) -> None:
    """Where it was copied to."""
    shutil.copytree(made, tmp_path / "kept")
    state = sqlwin.spark.state(spark, tmp_path / "kept" / "state")
    assert state.windows(key="tea").num_rows == 2


def test_there_is_one_of_this_version() -> None:
    assert FOLDER / f"checkpoint_v{VERSION}" in CHECKPOINTS
    assert FOLDER / f"checkpoint_v{VERSION}_spark" in ON_SPARK
