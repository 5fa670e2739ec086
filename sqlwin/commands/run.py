"""`sqlwin run`: a script over its own sources and sinks, on either engine."""

from __future__ import annotations

import argparse
import logging
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from sqlwin.commands import leaving, scripts
from sqlwin.commands.observing import observed
from sqlwin.errors import InputError
from sqlwin.interrupts import TERMINATED, terminations
from sqlwin.metrics_outlet import metrics_outlet
from sqlwin.plan.explain.statements import answers
from sqlwin.plan.options.settings import FIXED, SPARK
from sqlwin.runtime.connectors.metrics import OnMetrics
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.lowering.explained import explain
from sqlwin.runtime.rows.malformed import limit
from sqlwin.screen import JsonProgress, Progress, screen


def run(arguments: argparse.Namespace) -> int:
    asked = scripts.script_of(arguments)
    progress = (JsonProgress if arguments.log == "json" else Progress)(sys.stderr)
    options = RunOptions(
        base=scripts.base(arguments),
        checkpoint=arguments.checkpoint,
        drain=arguments.drain,
        follow=arguments.follow,
        show=screen(arguments.output, sys.stdout),
        on_errors=progress.errors,
        on_batch=progress.batch,
        on_warning=progress.warning,
        max_errors=None if arguments.max_errors is None else limit(arguments.max_errors),
        conf=_conf(arguments),
        on_started=lambda: progress.started("Spark"),
    )
    for answer in answers(asked, explain):
        print(answer)
    if not asked.queries:
        return 0
    if arguments.engine == "embedded":
        from sqlwin.embedded.run import run as started
    else:
        progress.starting("Spark")  # which takes seconds to say anything itself
        # it logs traces of what is raised here, and would where Ctrl-C falls into its start
        logging.getLogger().addHandler(logging.NullHandler())
        from sqlwin.spark.run import run as started
    with (
        terminations() as terminated,
        _metrics(arguments.metrics) as on_metrics,
        observed(arguments, asked, progress.serving) as seen,
    ):
        hooks = seen.hooks(on_metrics)
        summary = started(asked, replace(options, stop=terminated.is_set, **hooks))
    progress.done(summary)
    if arguments.follow or summary.stopped:  # or it was interrupted
        progress.stopped(f"stopped{leaving.left(arguments)}")
    return 0 if arguments.follow or not summary.stopped else TERMINATED


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
