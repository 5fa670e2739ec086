"""Runs on Spark, killed twice: driver, JVM or worker, also in the midst of a commit."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.spark_kills import COMMITS, VICTIMS, drawn, killed, victims


@pytest.mark.long
@pytest.mark.spark(processes=True)
@pytest.mark.timeout(900)
def test_no_kill_changes_a_sink(tmp_path: Path) -> None:
    assert killed(tmp_path, seed=1, kills=2) > 0


def test_most_kills_are_aimed_at_the_commit() -> None:
    kills = [drawn(random.Random(seed)) for seed in range(200)]
    assert {kill.victim for kill in kills} == set(VICTIMS)
    assert sum(kill.place in COMMITS for kill in kills) > 150


def test_victims_are_of_one_session() -> None:
    asleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(asleep, start_new_session=True) as other:
        assert victims(other.pid, "all") == victims(other.pid, "driver") == [other.pid]
        assert victims(other.pid, "jvm") == victims(other.pid, "worker") == []
        assert os.getpid() not in victims(other.pid, "all")
        other.kill()
