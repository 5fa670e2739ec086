"""The calls that are compared, and how much two answers to one may differ.

>>> len([call for call in CALLS if call.startswith("sum")]) > 2
True
>>> same_but("collect_set(x)", [2, 1], [1, 2]), same_but("collect_list(x)", [2, 1], [1, 2])
(True, False)
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from tests.functions.canonical import Json

CALLS: tuple[str, ...] = (
    # counts
    *("count(*)", "count(x)", "count(1)", "count(DISTINCT x)", "count(x) FILTER (WHERE w)"),
    *("count(DISTINCT x) FILTER (WHERE w)", "count_if(x)", "count_if(x IS NULL)"),
    *("count(*) FILTER (WHERE x IS NULL)", "count_if(w) FILTER (WHERE x IS NOT NULL)"),
    *("approx_count_distinct(x)", "approx_count_distinct(x) FILTER (WHERE w)"),
    # sums and means
    *("sum(x)", "sum(DISTINCT x)", "sum(x) FILTER (WHERE w)", "sum(DISTINCT x) FILTER (WHERE w)"),
    *(
        "avg(x)",
        "avg(DISTINCT x)",
        "avg(x) FILTER (WHERE w)",
        "mean(x)",
        "try_sum(x)",
        "try_avg(x)",
    ),
    *("sum(x * 2)", "sum(x) / count(x)", "avg(x) + 1", "sum(-x)", "sum(x + y)", "sum(k)", "avg(k)"),
    *("sum(CAST(x AS DOUBLE))", "sum(CAST(x AS DECIMAL(38, 2)))", "sum(1)", "sum(NULL)"),
    # moments
    *("stddev(x)", "std(x)", "stddev_samp(x)", "stddev_pop(x)", "variance(x)", "var_samp(x)"),
    *("var_pop(x)", "var_samp(x) FILTER (WHERE w)", "stddev_pop(x) FILTER (WHERE w)"),
    *("covar_samp(x, y)", "covar_pop(y, x)", "corr(x, y)", "corr(x, x)", "corr(k, y)"),
    *("covar_samp(x, k) FILTER (WHERE w)", "corr(y, k) FILTER (WHERE w)"),
    # extremes
    *("min(x)", "max(x)", "min(DISTINCT x)", "max(x) FILTER (WHERE w)", "min(k)", "max(y)"),
    *("min_by(x, k)", "max_by(x, k)", "min_by(x, x)", "max_by(x, x)", "min_by(k, k)"),
    *("max_by(x, k) FILTER (WHERE w)", "min_by(x, y + k * 1000)"),
    # places
    *("first(x)", "last(x)", "first_value(x)", "last_value(x)", "any_value(x)"),
    *("first(x) IGNORE NULLS", "last(x) IGNORE NULLS", "any_value(x) IGNORE NULLS"),
    *("first(x) FILTER (WHERE w)", "last_value(x, true) FILTER (WHERE w)"),
    *("first(x, true)", "last(x, true)", "any_value(x, true)"),
    # truth
    *("bool_and(x)", "bool_or(x)", "every(x)", "some(x)", "any(x)", "bool_and(x) FILTER (WHERE w)"),
    *("bool_or(x IS NULL)", "every(w)", "bool_and(DISTINCT x)"),
    # places in an order
    *("median(x)", "median(x) FILTER (WHERE w)", "percentile(x, 0.25)", "percentile(x, 1)"),
    *("percentile(x, array(0.0, 0.5, 0.9))", "percentile_cont(0.3) WITHIN GROUP (ORDER BY x)"),
    *("percentile_cont(0.3) WITHIN GROUP (ORDER BY x DESC)",),
    *("percentile_disc(0.3) WITHIN GROUP (ORDER BY x)",),
    *("percentile_disc(0.3) WITHIN GROUP (ORDER BY x DESC)",),
    *("percentile_approx(x, 0.5)", "approx_percentile(x, array(0.1, 0.9))"),
    *("percentile_approx(x, 0.25, 1000)", "approx_percentile(x, 0.5) FILTER (WHERE w)"),
    *("mode(x)", "mode() WITHIN GROUP (ORDER BY x)", "mode() WITHIN GROUP (ORDER BY x DESC)"),
    # collections
    *("collect_list(x)", "array_agg(x)", "collect_list(x) FILTER (WHERE w)"),
    *("collect_list(DISTINCT x)", "collect_set(x)", "collect_set(x) FILTER (WHERE w)"),
    *("listagg(x)", "listagg(x, ', ')", "string_agg(x, '-')", "listagg(x, ',') FILTER (WHERE w)"),
    *("listagg(DISTINCT x, ',') WITHIN GROUP (ORDER BY x)",),
    *("listagg(x, ',') WITHIN GROUP (ORDER BY k DESC)", "string_agg(x) WITHIN GROUP (ORDER BY k)"),
)
"""Over the columns of `tables`. Calls in Spark's words only: its answer is what they are for."""

UNORDERED = ("collect_set(", "collect_list(DISTINCT")
"""Arrays whose order Spark leaves open."""
SKETCHED = "approx_count_distinct("
ROUNDED = 1e-9
"""Relative: sums of floats in another order."""


def same_but(call: str, theirs: Json, ours: Json) -> bool:
    """Whether two answers are the same but for what Spark itself leaves open."""
    if call.startswith(UNORDERED) and isinstance(theirs, list) and isinstance(ours, list):
        return sorted(map(json.dumps, theirs)) == sorted(map(json.dumps, ours))
    if call.startswith(SKETCHED) and isinstance(theirs, int) and isinstance(ours, int):
        return math.isclose(theirs, ours, rel_tol=0.1, abs_tol=1)
    return theirs == ours or _rounded(theirs, ours)


def _rounded(theirs: Json, ours: Json) -> bool:
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        pairs = zip(theirs, ours, strict=True)
        return all(one == other or _rounded(one, other) for one, other in pairs)
    floats = list(_floats(theirs, ours))
    return len(floats) == 2 and math.isclose(*floats, rel_tol=ROUNDED)


def _floats(*values: Json) -> Iterator[float]:
    """Of texts that stand for DOUBLEs."""
    for value in values:
        try:
            if isinstance(value, str):
                yield float(value)
        except ValueError:
            return
