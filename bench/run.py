"""One run of one variant in a fresh process: what is asked, and what comes back.

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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.data import Data
from bench.measure import Batch, Figures, figures
from bench.queries import QUESTIONS
from bench.variants import VARIANTS


class Failed(Exception):
    """A run that ended badly; its last words are the message."""


@dataclass(frozen=True)
class Asked:
    """batch_files: files of a batch. results: a folder for the answer; empty keeps none."""

    variant: str
    question: str
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
class Told:
    """What a run tells. figures: None where the run is about the answer."""

    emitted: int
    refused: int
    read: int
    figures: Figures | None = None


def once(asked: Asked, timeout: float = 1_800.0) -> Told:
    """Run in a fresh process; Failed with its last words where it fails."""
    text = json.dumps({**asdict(asked), "began": time.time()})
    with tempfile.TemporaryDirectory(prefix="bench-cwd-") as folder:
        ended = _run([sys.executable, "-m", "bench.once", text], folder, timeout)
    lines = ended.stdout.strip().splitlines()
    if ended.returncode or not lines:
        raise Failed("\n".join(ended.stderr.strip().splitlines()[-15:]))
    return told_of(json.loads(lines[-1]))


def told_of(came: dict[str, Any]) -> Told:
    measured = came.get("figures")
    return Told(**{**came, "figures": None if measured is None else Figures(**measured)})


def _run(command: list[str], folder: str, timeout: float) -> subprocess.CompletedProcess[str]:
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


def answer(asked: Asked) -> Told:
    """Run in this process."""
    engine = importlib.import_module(f"bench.{VARIANTS[asked.variant].engine}")
    done: Done = engine.run(asked, QUESTIONS[asked.question], asked.data)
    measured = None if asked.results else figures(asked.began, done.batches)
    read = sum(batch.rows for batch in done.batches)
    return Told(done.emitted, done.refused, read, measured)


def asked(text: str) -> Asked:
    given = json.loads(text)
    return Asked(**{**given, "data": Data(**given["data"])})
