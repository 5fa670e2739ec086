"""The table of aggregates. Result types follow Spark SQL; `docs/aggregates.md` shows it.

An *incremental* aggregate keeps an accumulator of bounded size, lifted from rows,
merged with others, finished into a value. A *full state* one needs the values
themselves.

>>> [known.name for known in SIGNATURES if known.full_state and known.exact][:2]
['median', 'percentile_cont']
"""

from __future__ import annotations

from sqlwin.aggregates import results
from sqlwin.aggregates.results import STRING
from sqlwin.aggregates.signature import LINE, NUMBER, PAIR, Distinct, Nothing, Param, Signature

_ORDERABLE, _PLAIN = "a value with an order", "a value that is not nested"
_BY = "anything, then " + _ORDERABLE

REGRESSIONS = (
    *("regr_sxx", "regr_syy", "regr_sxy"),
    *("regr_slope", "regr_intercept", "regr_r2"),
)
"""Of a line through pairs; a DOUBLE."""

_SETS: tuple[Signature, ...] = (
    Signature(
        "hll_sketch_agg", (1, 1), results.sketched, "an INT, BIGINT, STRING or BINARY",
        "HLL_SKETCH_AGG(value, 12)", params=(Param.LG,), defaults=(12,),
        distinct=Distinct.SAME, exact=False, bound="as APPROX_COUNT_DISTINCT",
        nothing=Nothing.EMPTY_SKETCH,
    ),
    Signature(
        "hll_union_agg", (1, 1), results.united, "sketches of HLL_SKETCH_AGG",
        "HLL_UNION_AGG(sketch)", params=(Param.FLAG,), defaults=(False,),
        distinct=Distinct.SAME, reads="hll_union(x, x)", exact=False, bound="as its sketches",
        nothing=Nothing.EMPTY_SKETCH,
    ),
    Signature(
        "theta_sketch_agg", (1, 1), results.theta_sketched,
        "an INT, BIGINT, FLOAT, DOUBLE, STRING or BINARY", "THETA_SKETCH_AGG(value, 12)",
        params=(Param.NOMINAL,), defaults=(12,), distinct=Distinct.SAME, exact=False,
        bound="3.2 % in 95 of 100 cases; exact up to 4096 values", nothing=Nothing.EMPTY_SKETCH,
    ),
    Signature(
        "theta_union_agg", (1, 1), results.united, "sketches of THETA_SKETCH_AGG",
        "THETA_UNION_AGG(sketch, 12)", params=(Param.NOMINAL,), defaults=(12,),
        distinct=Distinct.SAME, reads="theta_intersection(x, x)", exact=False,
        bound="as its sketches", nothing=Nothing.EMPTY_SKETCH,
    ),
    Signature(
        "theta_intersection_agg", (1, 1), results.united, "sketches of THETA_SKETCH_AGG",
        "THETA_INTERSECTION_AGG(sketch)", distinct=Distinct.SAME,
        reads="theta_intersection(x, x)", exact=False, bound="as its sketches",
        nothing=Nothing.EMPTY_SKETCH,
    ),
    Signature(
        "bitmap_construct_agg", (1, 1), results.of_integers, "an integer",
        "BITMAP_CONSTRUCT_AGG(BITMAP_BIT_POSITION(value))", distinct=Distinct.SAME,
        reads="`bitmap position`(x)", nothing=Nothing.NO_BITS,
    ),
    Signature(
        "bitmap_or_agg", (1, 1), results.united, "a BINARY", "BITMAP_OR_AGG(bitmap)",
        distinct=Distinct.SAME, nothing=Nothing.NO_BITS,
    ),
    Signature(
        "bitmap_and_agg", (1, 1), results.united, "a BINARY", "BITMAP_AND_AGG(bitmap)",
        distinct=Distinct.SAME, nothing=Nothing.ALL_BITS,
    ),
)  # fmt: skip
"""Sketches and bitmaps of sets of values."""

_RANK = "rank within 1.3 % of k = 200; exact up to k values"

_RANKS: tuple[Signature, ...] = tuple(
    known
    for of, result, accepts in (
        ("bigint", results.of_integers, "an integer"),
        ("float", results.of_floats, "a FLOAT"),
        ("double", results.of_doubles, "a FLOAT or DOUBLE"),
    )
    for known in (
        Signature(
            f"kll_sketch_agg_{of}", (1, 1), result, accepts,
            f"KLL_SKETCH_AGG_{of.upper()}(value, 200)", params=(Param.ACCURACY,), defaults=(200,),
            full_state=True, exact=False, bound=_RANK, nothing=Nothing.EMPTY_SKETCH,
        ),
        Signature(
            f"kll_merge_agg_{of}", (1, 1), results.united,
            f"sketches of KLL_SKETCH_AGG_{of.upper()}", f"KLL_MERGE_AGG_{of.upper()}(sketch)",
            params=(Param.ACCURACY,), defaults=(None,),
            reads=f"CASE WHEN kll_sketch_get_n_{of}(x) >= 0 THEN x END",
            full_state=True, exact=False, bound="as its sketches", nothing=Nothing.EMPTY_SKETCH,
        ),
    )
)  # fmt: skip
"""Sketches of all values, by their ranks."""

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "count", (0, 1), results.counted, "anything, or *", "COUNT(*)",
        distinct=Distinct.CHANGES, invertible=True, nothing=Nothing.ZERO,
    ),
    Signature(
        "sum", (1, 1), results.summed, NUMBER, "SUM(value)",
        distinct=Distinct.CHANGES, invertible=True,
    ),
    Signature(
        "avg", (1, 1), results.mean, NUMBER, "AVG(value)",
        distinct=Distinct.CHANGES, invertible=True,
    ),
    Signature(
        "try_sum", (1, 1), results.summed, NUMBER, "TRY_SUM(value)",
        distinct=Distinct.CHANGES, invertible=True,
    ),
    Signature(
        "try_avg", (1, 1), results.mean, NUMBER, "TRY_AVG(value)",
        distinct=Distinct.CHANGES, invertible=True,
    ),
    Signature(
        "product", (1, 1), results.double, NUMBER, "PRODUCT(value)", distinct=Distinct.CHANGES
    ),
    Signature("min", (1, 1), results.ordered, _ORDERABLE, "MIN(value)", distinct=Distinct.SAME),
    Signature("max", (1, 1), results.ordered, _ORDERABLE, "MAX(value)", distinct=Distinct.SAME),
    *(
        Signature(
            name, (1, 1), results.double, NUMBER, f"{name.upper()}(value)",
            distinct=Distinct.CHANGES,
        )
        for name in ("stddev_samp", "stddev_pop", "var_samp", "var_pop", "skewness", "kurtosis")
    ),
    Signature("covar_samp", (2, 2), results.double, PAIR, "COVAR_SAMP(y, x)"),
    Signature("covar_pop", (2, 2), results.double, PAIR, "COVAR_POP(y, x)"),
    Signature("corr", (2, 2), results.double, PAIR, "CORR(y, x)"),
    Signature(
        "regr_count", (2, 2), results.regressed, LINE, "REGR_COUNT(y, x)",
        nothing=Nothing.ZERO,
    ),
    Signature("regr_avgx", (2, 2), results.mean_x, LINE, "REGR_AVGX(y, x)"),
    Signature("regr_avgy", (2, 2), results.mean_y, LINE, "REGR_AVGY(y, x)"),
    *(
        Signature(name, (2, 2), results.double, LINE, f"{name.upper()}(y, x)")
        for name in REGRESSIONS
    ),
    Signature("first", (1, 1), results.same, "anything", "FIRST(value)", sorts=True),
    Signature("last", (1, 1), results.same, "anything", "LAST(value)", sorts=True),
    Signature(
        "nth_value", (1, 1), results.same, "anything", "NTH_VALUE(value, 2)", params=(Param.COUNT,)
    ),
    Signature(
        "nth_last", (1, 1), results.same, "anything", "NTH_LAST(value, 2)", params=(Param.COUNT,)
    ),
    *(
        Signature(
            name, (1, 1), results.boolean, "a BOOLEAN", f"{name.upper()}(value > 0)",
            distinct=Distinct.SAME,
        )
        for name in ("bool_and", "bool_or")
    ),
    *(
        Signature(
            name, (1, 1), results.integral, "an integer", f"{name.upper()}(value)",
            distinct=Distinct.SAME,
        )
        for name in ("bit_and", "bit_or")
    ),
    Signature(
        "bit_xor", (1, 1), results.integral, "an integer", "BIT_XOR(value)",
        distinct=Distinct.CHANGES,
    ),
    *(
        Signature(
            name, (2, 2), results.by, _BY, f"{name.upper()}(name, value)",
            params=(Param.COUNT,), defaults=(None,), several=True,
        )
        for name in ("arg_min", "arg_max")
    ),
    Signature(
        "top_k", (1, 1), results.listed_ordered, _ORDERABLE, "TOP_K(value, 3)",
        params=(Param.COUNT,), distinct=Distinct.CHANGES, nothing=Nothing.EMPTY,
    ),
    Signature(
        "approx_count_distinct", (1, 1), results.count_of_plain, _PLAIN,
        "APPROX_COUNT_DISTINCT(value)", params=(Param.ERROR,), defaults=(None,),
        distinct=Distinct.SAME, exact=False,
        bound="3.2 % in 95 of 100 cases; exact up to 300 values",
        nothing=Nothing.ZERO,
    ),
    *_SETS,
    Signature(
        "approx_percentile", (1, 1), results.measured, "a number or a time",
        "APPROX_PERCENTILE(value, 0.9)", params=(Param.FRACTION, Param.COUNT), defaults=(None,),
        listed=True, exact=False,
        bound="rank within 0.02 of the fraction, measured",
    ),
    *_RANKS,
    Signature(
        "median", (1, 1), results.double, NUMBER, "MEDIAN(value)",
        distinct=Distinct.CHANGES, full_state=True,
    ),
    Signature(
        "percentile_cont", (1, 1), results.double, NUMBER, "PERCENTILE_CONT(value, 0.9)",
        params=(Param.FRACTION,), listed=True, distinct=Distinct.CHANGES, sorts=True,
        full_state=True,
    ),
    Signature(
        "percentile_disc", (1, 1), results.nearest, _PLAIN, "PERCENTILE_DISC(value, 0.9)",
        params=(Param.FRACTION,), listed=True, sorts=True, full_state=True,
    ),
    Signature("mode", (1, 1), results.ordered, _ORDERABLE, "MODE(value)", full_state=True),
    Signature(
        "collect_list", (1, 1), results.listed, "anything", "COLLECT_LIST(value ORDER BY name)",
        distinct=Distinct.CHANGES, sorts=True, limits=True, full_state=True,
        nothing=Nothing.EMPTY,
    ),
    Signature(
        "collect_set", (1, 1), results.listed_ordered, _ORDERABLE, "COLLECT_SET(value)",
        distinct=Distinct.SAME, full_state=True, nothing=Nothing.EMPTY,
    ),
    Signature(
        "string_agg", (1, 1), results.text, _PLAIN, "STRING_AGG(name, ', ' ORDER BY name)",
        params=(Param.TEXT,), defaults=("",), distinct=Distinct.CHANGES, sorts=True,
        limits=True, casts=STRING, full_state=True,
    ),
    Signature(
        "histogram", (1, 1), results.counted_by_value, _PLAIN, "HISTOGRAM(value)",
        full_state=True, nothing=Nothing.EMPTY_MAP,
    ),
    Signature(
        "map_agg", (2, 2), results.mapped, "a key that is not nested, then anything",
        "MAP_AGG(name, value)", sorts=True, full_state=True, nothing=Nothing.EMPTY_MAP,
    ),
)  # fmt: skip
