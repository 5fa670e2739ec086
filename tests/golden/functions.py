"""The functions of Python that goldens may call; a golden itself holds no code."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from sqlwin.aggregates.python import aggregate
from sqlwin.python_functions.declared import udf, udtf


def _net(gross: float | None, rate: float) -> float | None:
    if gross is not None and gross < 0:
        raise ValueError(f"a price of {gross}")
    return None if gross is None else gross / (1 + rate)


def _initials(name: str | None) -> list[str] | None:
    return None if name is None else [word[0] for word in name.split()]


def _letters(text: pa.Array) -> pa.Array:
    return pc.utf8_length(text)


def _rounded(value: pl.Series, places: pl.Series) -> pl.Series:
    return value.round(int(places[0]))


def _words(text: str | None) -> Iterator[tuple[str, int]]:
    if text == "mud":
        raise ValueError("no tea")
    for word in (text or "").split():
        yield word, len(word)


FUNCTIONS = (
    udtf(_words, name="words", types=["STRING"], result="STRUCT<word: STRING, size: INT>"),
    udf(_net, name="net_price"),
    udf(_initials, name="initials"),
    udf(_letters, name="letters", types=["STRING"], result="INT"),
    udf(_rounded, name="rounded", types=["DOUBLE", "INT"], result="DOUBLE"),
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
"""words, net_price: raise for mud, and a negative price. letters: of Arrow's arrays. rounded: of
Polars' series. longest: of texts; of those of one length the greatest. harmonic_mean: without
NULLs."""
