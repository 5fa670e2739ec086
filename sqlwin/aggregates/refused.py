"""Aggregates of Spark that queries here do not call: why, and what comes nearest.

>>> REFUSED["collect_union"].nearest
'ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(value)))'
"""

from __future__ import annotations

from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Refusal:
    why: str
    nearest: str


_SKETCH = "sketches are bytes that Spark's own library makes and reads"
_COUNTED = "THETA_SKETCH_AGG(value), APPROX_COUNT_DISTINCT(value)"
_FREQUENT = "MODE(value), or GROUP BY value with COUNT(*)"


def _all(names: tuple[str, ...], why: str, nearest: str) -> dict[str, Refusal]:
    return dict.fromkeys(names, Refusal(why, nearest))


REFUSED: dict[str, Refusal] = {
    **_all(
        ("histogram_numeric",),
        "its bins depend on the order and the cut in which rows come",
        "APPROX_PERCENTILE(value, ARRAY(0.25, 0.5, 0.75))",
    ),
    **_all(("approx_top_k",), "which values it keeps depends on the order of rows", _FREQUENT),
    **_all(("approx_top_k_accumulate", "approx_top_k_combine"), _SKETCH, _FREQUENT),
    **_all(("count_min_sketch",), _SKETCH, "GROUP BY value with COUNT(*)"),
    **_all(
        tuple(
            f"tuple_{what}_agg_{of}"
            for what in ("sketch", "union", "intersection")
            for of in ("double", "integer")
        ),
        _SKETCH,
        _COUNTED,
    ),
    **_all(
        ("collect_union",),
        "it is another call's distinct elements",
        "ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(value)))",
    ),
    **_all(
        ("vector_sum", "vector_avg"),
        "it takes arrays apart, and an aggregate here is of one value a row",
        "ARRAY(SUM(value[0]), SUM(value[1]))",
    ),
    **_all(("measure",), "there are no metric views", "the measure's own aggregate"),
    **_all(("schema_of_variant_agg",), "there are no columns of type VARIANT", "SCHEMA_OF_JSON"),
}
