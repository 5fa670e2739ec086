"""The Python aggregates that goldens may call; a golden itself holds no code."""

from __future__ import annotations

from sqlwin.aggregates.python import aggregate

FUNCTIONS = (
    aggregate("longest", ["STRING"], reducer=lambda a, b: max((len(a), a), (len(b), b))[1]),
    aggregate(
        "harmonic_mean",
        ["DOUBLE"],
        result="DOUBLE",
        accumulator="STRUCT<n: BIGINT, s: DOUBLE>",
        initializer=lambda: {"n": 0, "s": 0.0},
        aggregator=lambda a, x: a if x is None else {"n": a["n"] + 1, "s": a["s"] + 1 / x},
        merger=lambda a, b: {"n": a["n"] + b["n"], "s": a["s"] + b["s"]},
        finisher=lambda a: a["n"] / a["s"] if a["n"] else None,
    ),
)
"""longest: of texts; of those of one length the greatest. harmonic_mean: NULLs are left out."""
