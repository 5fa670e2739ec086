"""Aggregate calls as sqlwin has them and as DuckDB has them.

`{over}` stands where OVER goes, in both. Rows of one instant are told apart by `seq`:
where the order of rows matters, DuckDB is told (us, seq).
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.properties.features import one_of


@dataclass(frozen=True)
class Call:
    ours: str
    theirs: str


def _same(*calls: str) -> list[Call]:
    return [Call(call + "{over}", call + "{over}") for call in calls]


def _pair(ours: str, theirs: str) -> Call:
    return Call(ours + "{over}", theirs)


# DuckDB's own first, arg_min and list leave ties open, or pass over NULLs that ours take.
_FIRST = "arg_min_null({x}, (us, seq)){{over}}"
_LAST = "arg_max_null({x}, (us, seq)){{over}}"
_ARG_MIN = "arg_min_null({x}, ({y}, us, seq)) FILTER (WHERE {y} IS NOT NULL){{over}}"
_ARG_MAX = "arg_max_null({x}, ({y}, -us, -seq)) FILTER (WHERE {y} IS NOT NULL){{over}}"
_LISTED = "coalesce(list({x} ORDER BY {by}us, seq) FILTER (WHERE {x} IS NOT NULL){{over}}, [])"
_NEAREST = "(list({x} ORDER BY {y}{down}, us, seq) FILTER (WHERE {y} IS NOT NULL){{over}})[1:2]"
_IN_ORDER = "(list(k ORDER BY {by}, us, seq) FILTER (WHERE {y} IS NOT NULL){{over}})[1]"
_LIMITED = _LISTED.replace("{x}", "k") + "[1:2]"
_LEAST = "list(i ORDER BY f NULLS LAST, us, seq) FILTER (WHERE i IS NOT NULL){over}[1]"
_JOINED = (
    "array_to_string(nullif((list(k ORDER BY f NULLS FIRST, us, seq) "
    "FILTER (WHERE k IS NOT NULL){over})[1:2], []), '-')"
)
_PAIRS = "count(DISTINCT CASE WHEN ({x} = {x}) AND ({y} = {y}) THEN ({x}, {y}) END){where}{{over}}"
_IF_B = " FILTER (WHERE b)"
# quarters of small numbers: a variance that is none is exactly 0 there
_CORR = "(CASE WHEN isnan(corr({x}, {y}){{over}}) THEN NULL ELSE corr({x}, {y}){{over}} END)"

PLAIN = [
    *_same(
        "COUNT(*)", "COUNT(i)", "SUM(i)", "SUM(d)", "SUM(f)", "AVG(i)", "AVG(d)", "AVG(f)",
        "MIN(i)", "MAX(d)", "MIN(f)", "MAX(k)", "MIN(b)", "MAX(ts)", "BOOL_AND(b)", "BOOL_OR(b)",
        "STDDEV_SAMP(i)", "STDDEV_POP(d)", "VAR_SAMP(f)", "VAR_POP(i)", "SUM(i * 2 + 1)",
        "COUNT(*) FILTER (WHERE b)", "SUM(i) FILTER (WHERE f > 0)", "MAX(k) FILTER (WHERE i > 0)",
        "PRODUCT(i)", "PRODUCT(f)", "PRODUCT(d) FILTER (WHERE b)",
    ),
    Call("SUM(i){over} - COUNT(*){over}", "SUM(i){over} - COUNT(*){over}"),
    _pair("FIRST(i)", _FIRST.format(x="i")),
    _pair("LAST(k)", _LAST.format(x="k")),
    _pair("ARG_MIN(k, i)", _ARG_MIN.format(x="k", y="i")),
    _pair("MAX_BY(i, f)", _ARG_MAX.format(x="i", y="f")),
    _pair("FIRST(k ORDER BY i, f DESC)", _IN_ORDER.format(by="i, f DESC NULLS LAST", y="i")),
    _pair("LAST_VALUE(k ORDER BY b, i)", _IN_ORDER.format(by="b DESC, i DESC NULLS LAST", y="b")),
]  # fmt: skip
PAIRS = [
    *_same("COVAR_SAMP(i, f)", "COVAR_POP(d, i)"),
    _pair("CORR(i, f)", _CORR.format(x="i", y="f")),
]
VALUES = [
    *_same(
        "MEDIAN(i)", "MEDIAN(f)", "COUNT(DISTINCT i)", "COUNT(DISTINCT k)", "SUM(DISTINCT i)",
        "SUM(DISTINCT d)", "AVG(DISTINCT f)", "COUNT(DISTINCT f) FILTER (WHERE b)",
    ),
    _pair("PERCENTILE_CONT(i, 0.3)", "quantile_cont(i::DOUBLE, 0.3){over}"),
    _pair("PERCENTILE_DISC(d, 0.7)", "quantile_disc(d::DOUBLE, 0.7){over}"),
    _pair("MODE(k)", "mode(k ORDER BY us, seq){over}"),
    _pair("COLLECT_LIST(i)", _LISTED.format(x="i", by="")),
    _pair("COLLECT_LIST(k ORDER BY i DESC)", _LISTED.format(x="k", by="i DESC NULLS LAST, ")),
    _pair("STRING_AGG(k, '-')", "string_agg(k, '-' ORDER BY us, seq){over}"),
    _pair(
        "STRING_AGG(k, '' ORDER BY f)", "string_agg(k, '' ORDER BY f NULLS FIRST, us, seq){over}"
    ),
    _pair("COLLECT_LIST(k ORDER BY i DESC LIMIT 2)", _LIMITED.format(by="i DESC NULLS LAST, ")),
    _pair("COLLECT_LIST(k LIMIT 1)", _LIMITED.format(by="").replace("[1:2]", "[1:1]")),
    Call("TRY_ELEMENT_AT(COLLECT_LIST(i ORDER BY f NULLS LAST LIMIT 2){over}, 1)", _LEAST),
    _pair("STRING_AGG(k, '-' ORDER BY f LIMIT 2)", _JOINED),
    _pair("MAX_BY(k, i, 2)", _NEAREST.format(x="k", y="i", down=" DESC")),
    _pair("MIN_BY(i, f, 3)", _NEAREST.format(x="i", y="f", down="").replace(":2]", ":3]")),
    _pair("TOP_K(i, 2)", "coalesce(max(i, 2){over}, [])"),
    Call(
        "ARRAY_SORT(MAP_ENTRIES(HISTOGRAM(k){over}))",
        "coalesce(list_sort(map_entries(histogram(k){over})), [])",
    ),
    Call("MAP_AGG(k, i){over}['b']", "arg_max_null(i, (us, seq)) FILTER (WHERE k = 'b'){over}"),
    Call("CARDINALITY(MAP_AGG(i, k){over})", "count(DISTINCT i){over}"),
    Call("JSON_ARRAYAGG(i){over}", f"to_json({_LISTED.format(x='i', by='')})::VARCHAR"),
    Call("CARDINALITY(COLLECT_SET(k){over})", "count(DISTINCT k){over}"),
    _pair("COUNT(DISTINCT i, k)", _PAIRS.format(x="i", y="k", where="")),
    _pair("COUNT(DISTINCT k, f) FILTER (WHERE b)", _PAIRS.format(x="k", y="f", where=_IF_B)),
]  # fmt: skip
SKETCHES = [
    _pair("APPROX_COUNT_DISTINCT(i)", "count(DISTINCT i){over}"),
    _pair("APPROX_PERCENTILE(i, 0.5)", "quantile_disc(i::DOUBLE, 0.5){over}"),
]


def calls() -> st.SearchStrategy[list[Call]]:
    known = one_of(PLAIN, pairs=PAIRS * 2, values=VALUES * 2, sketches=SKETCHES)
    return st.lists(known, min_size=1, max_size=4)


def ours(chosen: list[Call], over: str = "") -> list[str]:
    return [call.ours.format(over=over) for call in chosen]


def theirs(chosen: list[Call], over: str = "") -> list[str]:
    return [call.theirs.format(over=over) for call in chosen]


def listed(names: list[str], values: list[str]) -> str:
    """Values get names of their own, that none may be taken for a column."""
    return ", ".join([*names, *(f"{value} AS v{at}" for at, value in enumerate(values))])
