"""`sqlwin run`: a script over its own sources and sinks, on either engine."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TextIO

from sqlwin.commands import leaving, scripts
from sqlwin.commands.observing import observed
from sqlwin.errors import InputError
from sqlwin.interrupts import TERMINATED, terminations
from sqlwin.plan.explain.statements import answers
from sqlwin.plan.options.settings import FIXED, SPARK
from sqlwin.running.analysis import explained
from sqlwin.running.engines import engine
from sqlwin.running.metrics_outlet import metrics_outlet
from sqlwin.running.progress import JsonProgress, Progress
from sqlwin.running.screen import screen
from sqlwin.runtime.connectors.metrics import OnMetrics
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.rows.malformed import limit

PLAIN = "SQLWIN_PLAIN"
"""A variable that asks for plain lines, as `--plain` does."""


def run(arguments: argparse.Namespace) -> int:
    parsed = scripts.script_of(arguments)
    progress, out = _progress(arguments)
    options = RunOptions(
        base=scripts.base(arguments),
        checkpoint=arguments.checkpoint,
        drain=arguments.drain,
        follow=arguments.follow,
        show=screen(arguments.output, out),
        on_errors=progress.errors,
        on_batch=progress.batch,
        on_warning=progress.warning,
        max_errors=None if arguments.max_errors is None else limit(arguments.max_errors),
        conf=_conf(arguments),
        watched=sys.stdout.isatty(),
    )
    started = engine(arguments.engine, progress)
    for answer in answers(parsed, explained(parsed, options, started)):
        print(answer)
    if not parsed.queries:
        return 0
    outlet = _metrics(arguments.metrics)
    with (
        terminations() as terminated,
        outlet as on_metrics,
        observed(arguments, parsed, progress.serving) as seen,
        progress.running(),
    ):
        hooks = seen.hooks(progress.metrics(on_metrics))
        summary = started(parsed, replace(options, stop=terminated.is_set, **hooks))
    progress.done(summary)
    if arguments.follow or summary.stopped:  # or it was interrupted
        progress.stopped(f"stopped{leaving.left(arguments)}")
    return 0 if arguments.follow or not summary.stopped else TERMINATED


def _progress(arguments: argparse.Namespace) -> tuple[Progress, TextIO]:
    """And where results go: a view is below them where they are on the same terminal."""
    if arguments.log == "json":
        return JsonProgress(sys.stderr), sys.stdout
    plain = arguments.plain or PLAIN in os.environ or os.environ.get("TERM") == "dumb"
    if plain or not sys.stderr.isatty():
        return Progress(sys.stderr), sys.stdout
    from sqlwin.live.display import LiveProgress

    progress = LiveProgress(sys.stderr, arguments.follow)
    return progress, progress.above(sys.stdout) if sys.stdout.isatty() else sys.stdout


def _conf(arguments: argparse.Namespace) -> dict[str, str]:
    for pair in arguments.conf:
        name, between, _ = pair.partition("=")
        if not between or not name.startswith(SPARK):
            raise InputError(f"--conf {pair!r} is not spark.name=value")
        if name in FIXED:
            raise InputError(f"--conf {name} cannot be set: {FIXED[name]}")
    if arguments.conf and arguments.engine == "embedded":
        raise InputError("--conf is of Spark, and the engine is embedded: leave it out")
    return dict(pair.split("=", 1) for pair in arguments.conf)


def _metrics(wanted: str | None) -> AbstractContextManager[OnMetrics | None]:
    return nullcontext() if wanted is None else metrics_outlet(wanted)
