"""One run of one variant in a fresh process: its settings, and its outcome.

    python -m bench.once '{"variant": "packed", …}'

prints one line of JSON, the last on stdout. A fresh process starts with no warm
JVM, no Python workers and no cached files of another variant's making.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.data import Data
from bench.measure import Batch, Figures, figures
from bench.queries import QUERIES, Query
from bench.variants import VARIANTS


class Failed(Exception):
    """A run that ended badly; its last words are the message."""


@dataclass(frozen=True)
class RunSpec:
    """batch_files: files of a batch. results: a folder for the answer; empty keeps none."""

    variant: str
    query: str
    data: Data
    batch_files: int
    cores: int = 2
    results: str = ""
    began: float = 0.0

    @property
    def way(self) -> str:
        return VARIANTS[self.variant].way

    @property
    def results_path(self) -> Path | None:
        return Path(self.results) if self.results else None


@dataclass(frozen=True)
class Done:
    """emitted: results. refused: rows of the error stream."""

    batches: list[Batch]
    emitted: int
    refused: int


@dataclass(frozen=True)
class Outcome:
    """What a run returns. figures: None where the run is about the answer."""

    emitted: int
    refused: int
    read: int
    figures: Figures | None = None


def once(spec: RunSpec, timeout: float = 1_800.0, module: str = "bench.once") -> Outcome:
    """Run in a fresh process; Failed with its last words where it fails."""
    text = json.dumps({**asdict(spec), "began": time.time()})
    with tempfile.TemporaryDirectory(prefix="bench-cwd-") as folder:
        ended = ran([sys.executable, "-m", module, text], folder, timeout)
    lines = ended.stdout.strip().splitlines()
    if ended.returncode or not lines:
        raise Failed("\n".join(ended.stderr.strip().splitlines()[-15:]))
    return outcome_of(json.loads(lines[-1]))


def outcome_of(saved: dict[str, Any]) -> Outcome:
    measured = saved.get("figures")
    return Outcome(**{**saved, "figures": None if measured is None else Figures(**measured)})


def ran(command: list[str], folder: str, timeout: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=_environment(),
            cwd=folder,
            check=False,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"not done after {timeout:.0f} s: {command[-1]}") from None


def _environment() -> dict[str, str]:
    """The checkout is on the path of the process and of Spark's workers."""
    home = str(Path(__file__).parents[1])
    path = [home, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    return {**os.environ, **python, "PYTHONPATH": os.pathsep.join(path)}


def answer(spec: RunSpec, queries: Mapping[str, Query] = QUERIES) -> Outcome:
    """Run in this process."""
    engine = importlib.import_module(f"bench.{VARIANTS[spec.variant].engine}")
    done: Done = engine.run(spec, queries[spec.query], spec.data)
    measured = None if spec.results else figures(spec.began, done.batches)
    read = sum(batch.rows for batch in done.batches)
    return Outcome(done.emitted, done.refused, read, measured)


def spec(text: str) -> RunSpec:
    given = json.loads(text)
    return RunSpec(**{**given, "data": Data(**given["data"])})
