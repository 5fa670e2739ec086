"""The engine that a command runs queries on, which is imported and started by need."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.statements import Script
from sqlwin.running.progress import Progress
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.progress import Summary

Run = Callable[[Script, RunOptions], Summary]


def engine(name: str, progress: Progress) -> Run:
    """embedded or spark."""
    return _embedded if name == "embedded" else _Spark(progress)


def _embedded(script: Script, options: RunOptions) -> Summary:
    from sqlwin.embedded.run import run

    return run(script, options)


@dataclass
class _Spark:
    """It says when it starts and when it is up, the first time that it runs something."""

    progress: Progress
    up: bool = False
    began: float = 0.0

    def __call__(self, script: Script, options: RunOptions) -> Summary:
        if self.up:
            return self._run(script, options)
        self.began = time.monotonic()
        self.progress.starting("Spark")  # which takes seconds to say anything itself
        # it logs traces of what is raised here, and would where Ctrl-C falls into its start
        logging.getLogger().addHandler(logging.NullHandler())
        return self._run(script, replace(options, on_started=self._started))

    def _started(self) -> None:
        self.up = True
        self.progress.started("Spark", time.monotonic() - self.began)

    def _run(self, script: Script, options: RunOptions) -> Summary:
        from sqlwin.spark.run import run

        return run(script, options)
