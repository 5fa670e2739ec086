"""A process that is killed anywhere, and started again, ends up saying what another says."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from tests.faults.sinks import alike, command, killed, land, last, same

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("engine", "files", "earliest", "latest", "kills"),
    [
        pytest.param("embedded", 30, 0.7, 2.0, 4, id="embedded"),
        pytest.param(
            *("spark", 60, 7.0, 16.0, 2),
            id="spark",  # `test_spark_kills` is the one of its kind that does not take hours
            marks=[pytest.mark.spark(processes=True), pytest.mark.hours],
        ),
    ],
)
def test_killed_at_random_points(
    tmp_path: Path, engine: str, files: int, earliest: float, latest: float, kills: int
) -> None:
    land(tmp_path, files, rows=40)
    whole = command(tmp_path, "embedded", "whole")
    subprocess.run(whole, check=True, capture_output=True)
    again = command(tmp_path, engine, "cut", "--checkpoint", str(tmp_path / "state"), "--drain")
    rng = random.Random(11)
    assert killed(again, [rng.uniform(earliest, latest) for _ in range(kills)]) > 0
    alike(tmp_path / "whole", tmp_path / "cut", files=files)


@pytest.mark.spark(processes=True)
def test_killed_while_its_first_offset_was_written(tmp_path: Path) -> None:
    """Half a file lies there then, and no batch has begun."""
    land(tmp_path, files=3, rows=40)
    subprocess.run(command(tmp_path, "embedded", "whole"), check=True, capture_output=True)
    offsets = tmp_path / "kept" / "spark" / "offsets"
    offsets.mkdir(parents=True)
    (offsets / ".0.half.tmp").write_text("v1")
    again = command(tmp_path, "spark", "cut", "--checkpoint", str(tmp_path / "kept"), "--drain")
    assert killed(again, []) == 0
    same(last(tmp_path / "whole" / "totals"), last(tmp_path / "cut" / "totals"))
