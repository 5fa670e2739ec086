"""Two processes on one checkpoint: one of them is refused, and no answer changes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.faults.sinks import alike, command, land
from tests.faults.spark_kills import two_at_once


@pytest.mark.long
def test_in_process(tmp_path: Path) -> None:
    land(tmp_path, files=12, rows=10)
    subprocess.run(command(tmp_path, "embedded", "whole"), check=True, capture_output=True)
    argv = command(tmp_path, "embedded", "cut", "--checkpoint", str(tmp_path / "kept"), "--drain")
    both = [subprocess.Popen(argv, stdout=-3, stderr=subprocess.PIPE) for _ in range(2)]
    said = [each.communicate()[1].decode().splitlines()[-1] for each in both]
    codes = [each.returncode for each in both]
    assert 0 in codes
    assert all(line.startswith("failed: ") for line, code in zip(said, codes, strict=True) if code)
    subprocess.run(argv, check=True, capture_output=True)
    alike(tmp_path / "whole", tmp_path / "cut", files=12)


@pytest.mark.long
@pytest.mark.spark(processes=True)
def test_on_spark(tmp_path: Path) -> None:
    pytest.importorskip("sqlwin.runtime.files.lock", reason="nothing locks a checkpoint yet")
    assert 0 in two_at_once(tmp_path, seed=1, files=12)
