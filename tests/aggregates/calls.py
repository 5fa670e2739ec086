"""The calls that are compared, and how much two answers to one may differ.

>>> len([call for call in CALLS if call.startswith("sum")]) > 2
True
>>> same_but("collect_set(x)", [2, 1], [1, 2]), same_but("collect_list(x)", [2, 1], [1, 2])
(True, False)
>>> texts = "1.00000000000000001", "1.00000000000000002"
>>> same_but("sum(x)", *texts, "double"), same_but("sum(x)", *texts, "decimal(38,17)")
(True, False)
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from tests.functions.canonical import Json

CALLS: tuple[str, ...] = (
    # counts
    *("count(*)", "count(x)", "count(1)", "count(DISTINCT x)", "count(x) FILTER (WHERE w)"),
    *("count(DISTINCT x) FILTER (WHERE w)", "count_if(x)", "count_if(x IS NULL)"),
    *("count(*) FILTER (WHERE x IS NULL)", "count_if(w) FILTER (WHERE x IS NOT NULL)"),
    *("count(x, y)", "count(x, k) FILTER (WHERE w)", "count(DISTINCT x, y)", "count(NULL)"),
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
    *("skewness(x)", "kurtosis(x)", "skewness(x) FILTER (WHERE w)", "kurtosis(k)"),
    *("stddev(DISTINCT x)", "var_pop(DISTINCT x)", "kurtosis(DISTINCT x)"),
    *("regr_count(x, y)", "regr_avgx(x, y)", "regr_avgy(x, y)", "regr_sxx(x, y)"),
    *("regr_syy(x, y)", "regr_sxy(x, y)", "regr_slope(x, y)", "regr_intercept(x, y)"),
    *("regr_r2(x, y)", "regr_r2(k, y)", "regr_slope(y, k) FILTER (WHERE w)", "regr_r2(x, x)"),
    *("regr_avgx(y, x)", "regr_intercept(k, y)"),
    # bits
    *("bit_and(x)", "bit_or(x)", "bit_xor(x)", "bit_xor(x) FILTER (WHERE w)", "bit_and(k)"),
    *("bit_xor(DISTINCT x)", "bit_or(DISTINCT x)"),
    # extremes
    *("min(x)", "max(x)", "min(DISTINCT x)", "max(x) FILTER (WHERE w)", "min(k)", "max(y)"),
    *("min_by(x, k)", "max_by(x, k)", "min_by(x, x)", "max_by(x, x)", "min_by(k, k)"),
    *("max_by(x, k) FILTER (WHERE w)", "min_by(x, y + k * 1000)"),
    *("max_by(x, k, 2)", "min_by(x, k, 3)", "min_by(k, x)", "max_by(k, x)", "max(struct(x, k))"),
    *("min(array(k))", "max(DISTINCT x) FILTER (WHERE w)"),
    # places
    *("first(x)", "last(x)", "first_value(x)", "last_value(x)", "any_value(x)"),
    *("first(x) IGNORE NULLS", "last(x) IGNORE NULLS", "any_value(x) IGNORE NULLS"),
    *("first(x) FILTER (WHERE w)", "last_value(x, true) FILTER (WHERE w)"),
    *("first(x, true)", "last(x, true)", "any_value(x, true)"),
    # truth
    *("bool_and(x)", "bool_or(x)", "every(x)", "some(x)", "any(x)", "bool_and(x) FILTER (WHERE w)"),
    *("bool_or(x IS NULL)", "every(w)", "bool_and(DISTINCT x)"),
    *("max(x IS NULL)", "min(w)", "mode(w)", "first(w)", "count(DISTINCT w)"),
    # places in an order
    *("median(x)", "median(x) FILTER (WHERE w)", "percentile(x, 0.25)", "percentile(x, 1)"),
    *("percentile(x, array(0.0, 0.5, 0.9))", "percentile_cont(0.3) WITHIN GROUP (ORDER BY x)"),
    *("percentile_cont(0.3) WITHIN GROUP (ORDER BY x DESC)",),
    *("percentile_disc(0.3) WITHIN GROUP (ORDER BY x)",),
    *("percentile_disc(0.3) WITHIN GROUP (ORDER BY x DESC)",),
    *("percentile_approx(x, 0.5)", "approx_percentile(x, array(0.1, 0.9))"),
    *("percentile_approx(x, 0.25, 1000)", "approx_percentile(x, 0.5) FILTER (WHERE w)"),
    *("approx_percentile(x, array(0.25, 0.75), 100)", "percentile_approx(x, 0.5, 0)"),
    *("percentile(x, 0.5, 2)", "percentile(x, array(0.1, 0.6), k * k)", "median(DISTINCT x)"),
    *("percentile(x, 1.5)", "percentile_approx(x, -0.1)", "percentile(x, NULL)"),
    *("percentile(DISTINCT x, 0.5)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY k)"),
    *("mode(x, true)", "mode(x, false)", "mode(x) FILTER (WHERE w)"),
    *("mode(x)", "mode() WITHIN GROUP (ORDER BY x)", "mode() WITHIN GROUP (ORDER BY x DESC)"),
    # collections
    *("collect_list(x)", "array_agg(x)", "collect_list(x) FILTER (WHERE w)"),
    *("collect_list(DISTINCT x)", "collect_set(x)", "collect_set(x) FILTER (WHERE w)"),
    *("listagg(x)", "listagg(x, ', ')", "string_agg(x, '-')", "listagg(x, ',') FILTER (WHERE w)"),
    *("listagg(DISTINCT x, ',') WITHIN GROUP (ORDER BY x)",),
    *("listagg(x, ',') WITHIN GROUP (ORDER BY k DESC)", "string_agg(x) WITHIN GROUP (ORDER BY k)"),
    *(
        "listagg(x, X'2C')",
        "listagg(x, NULL)",
        "listagg(x, ',') WITHIN GROUP (ORDER BY w, k DESC NULLS LAST)",
    ),
    *("collect_list(struct(x, k))", "collect_set(struct(x))", "collect_list(array(x))"),
    *("collect_union(array(x, x))", "collect_union(x)", "approx_count_distinct(x, 0.1)"),
    *("histogram_numeric(x, 5)", "approx_top_k(x)", "count_min_sketch(x, 0.5d, 0.5d, 1)"),
    # types that no column has
    *("first(map(k, x))", "max(map(k, x))", "count(DISTINCT map(k, x))", "collect_set(map(k, x))"),
    *("CAST(sum(make_dt_interval(0, 0, k)) AS STRING)", "count(DISTINCT make_dt_interval(k))"),
    *("CAST(max(make_dt_interval(k)) AS STRING)", "CAST(min(make_ym_interval(k)) AS STRING)"),
    *("CAST(first(make_ym_interval(k)) AS STRING)", "CAST(avg(make_dt_interval(k)) AS STRING)"),
)
"""Over the columns of `tables`. Calls in Spark's words only: its answer is what they are for."""

_AS_NUMBERS = re.compile(
    r"(sum|avg|mean|try_\w+|std\w*|var\w*|covar_\w+|corr|regr_\w+|skewness|kurtosis|bit_\w+"
    r"|median|percentile\w*|approx_percentile)\(.*x"
)
_SOME_AS_NUMBERS = (
    *("sum(x)", "avg(x)", "try_sum(x)", "stddev(x)", "corr(x, y)", "regr_avgy(x, y)", "median(x)"),
    *("kurtosis(x)", "percentile(x, 0.25)", "percentile_approx(x, 0.5)", "bit_and(x)"),
)


def calls_of(type_: str) -> tuple[str, ...]:
    """CALLS; of STRING few of those that read them as numbers, for nearly each group raises.

    >>> "sum(x)" in calls_of("string"), "sum(x * 2)" in calls_of("string")
    (True, False)
    """
    if type_ != "string":
        return CALLS
    return tuple(c for c in CALLS if c in _SOME_AS_NUMBERS or not _AS_NUMBERS.match(c))


UNORDERED = ("collect_set(", "collect_list(DISTINCT", "collect_union(")
"""Arrays whose order Spark leaves open."""
SKETCHED = {"approx_count_distinct(x, 0.1)": 0.3, "approx_count_distinct(": 0.1}
"""How far off Spark's own sketch is, relative."""
NEAREST = ("approx_percentile(", "percentile_approx(")
"""DECIMALs by way of a DOUBLE, whose text Java 17 does not keep short; it is the same DOUBLE."""
SMALL = {"skewness(": 1e-9, "kurtosis(": 1e-9}
"""Absolute: differences of large numbers."""
ROUNDED = 1e-9
"""Relative: sums of floats in another order."""


def same_but(
    call: str, theirs: Json, ours: Json, type_: str = "double", noise: float = 0.0
) -> bool:
    """Whether two answers of Spark's type are the same but for what Spark itself leaves open.

    noise: absolute, what rounding leaves of large numbers that cancel.
    """
    if call.startswith(UNORDERED) and isinstance(theirs, list) and isinstance(ours, list):
        return sorted(map(json.dumps, theirs)) == sorted(map(json.dumps, ours))
    sketched = _by_start(SKETCHED, call)
    if sketched and isinstance(theirs, int) and isinstance(ours, int):
        return math.isclose(theirs, ours, rel_tol=sketched, abs_tol=1)
    if call.startswith(NEAREST) and "decimal" in type_:
        return _one_double(theirs, ours)
    floats = "double" in type_ or "float" in type_
    return theirs == ours or (floats and _rounded(theirs, ours, _by_start(SMALL, call) + noise))


def _one_double(theirs: Json, ours: Json) -> bool:
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        return all(map(_one_double, theirs, ours))
    floats = list(_floats(theirs, ours))
    return theirs == ours or (len(floats) == 2 and floats[0] == floats[1])


def _by_start(known: dict[str, float], call: str) -> float:
    return next((size for start, size in known.items() if call.startswith(start)), 0.0)


def _rounded(theirs: Json, ours: Json, small: float) -> bool:
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        pairs = zip(theirs, ours, strict=True)
        return all(one == other or _rounded(one, other, small) for one, other in pairs)
    floats = list(_floats(theirs, ours))
    return len(floats) == 2 and math.isclose(*floats, rel_tol=ROUNDED, abs_tol=small)


def _floats(*values: Json) -> Iterator[float]:
    """Of texts that stand for DOUBLEs."""
    for value in values:
        try:
            if isinstance(value, str):
                yield float(value)
        except ValueError:
            return
