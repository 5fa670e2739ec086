"""A run of a script on Spark, and results compared as sets of rows."""

from __future__ import annotations

import math
from collections.abc import Callable

import polars as pl

from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.progress import Summary

Run = Callable[[Script, RunOptions], Summary]


def on_spark(parsed: Script, options: RunOptions) -> Summary:
    from sqlwin.spark.run import run

    return run(parsed, options)


def same(found: pl.DataFrame, expected: pl.DataFrame) -> bool:
    """Equal as sets of rows, floats within 1e-9."""
    keys = [c for c, dtype in expected.schema.items() if not dtype.is_float()]
    ours = found.cast(dict(expected.schema)).sort(keys)
    theirs = expected.sort(keys)
    exact = ours.select(keys).equals(theirs.select(keys))
    floats = [c for c in expected.columns if c not in keys]
    return exact and all(
        a is b or math.isclose(a, b, rel_tol=1e-9)
        for c in floats
        for a, b in zip(ours[c], theirs[c], strict=True)
    )
