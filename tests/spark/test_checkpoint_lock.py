"""A checkpoint belongs to one query at a time, also to one that was started and goes on."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sqlwin.errors import RunError
from sqlwin.spark.dataframes.query import SparkQuery
from sqlwin.sql import script

OTHER = """
import sys
from pathlib import Path
from sqlwin.spark.checkpoint.lock import checkpoint_locked
with checkpoint_locked(Path(sys.argv[1])):
    pass
"""


@dataclass
class Running:
    """As much of a StreamingQuery as is asked, and of the writer that starts it."""

    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def isActive(self) -> bool:  # noqa: N802
        return not self.ended.is_set()

    def awaitTermination(self) -> None:  # noqa: N802
        self.ended.wait()
        raise ValueError("as where a query has failed")

    def trigger(self, **_: Any) -> Running:
        return self

    def start(self) -> Running:
        return self


def other(checkpoint: Path) -> str:
    command = [sys.executable, "-c", OTHER, str(checkpoint)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_a_query_that_was_started_has_its_checkpoint_until_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers = [Running(), Running()]
    monkeypatch.setattr(SparkQuery, "_writer", lambda *_, **__: running)
    declared = script("CREATE STREAM s (a BIGINT); SELECT a FROM s")
    query, kept = SparkQuery(None, declared, {}), tmp_path / "kept"  # type: ignore[arg-type]
    refused = f"another process runs on the checkpoint {kept} "
    for running in writers:  # the second as soon as the first has ended
        query.start(print, kept, availableNow=True)
        with pytest.raises(RunError, match=refused):
            query.start(print, kept)
        with pytest.raises(RunError, match=refused):
            query.run(print, kept)
        assert refused in other(kept)
        running.ended.set()
    for thread in threading.enumerate():
        if thread.name == "sqlwin-lock":
            thread.join(10)
    assert not other(kept)


def test_a_start_that_fails_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("no start")

    monkeypatch.setattr(SparkQuery, "_writer", fail)
    declared = script("CREATE STREAM s (a BIGINT); SELECT a FROM s")
    query = SparkQuery(None, declared, {})  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(ValueError, match="no start"):
            query.start(print, tmp_path)
