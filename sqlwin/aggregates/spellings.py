"""Other names of aggregates, as Spark, ksqlDB, Flink and DuckDB have them.

>>> signature("max_by").name, signature("COUNT").name, signature("no_aggregate")
('arg_max', 'count', None)
"""

from __future__ import annotations

from sqlwin.aggregates.signature import Signature
from sqlwin.aggregates.signatures import SIGNATURES

ALIASES = {
    "mean": "avg",
    "stddev": "stddev_samp",
    "std": "stddev_samp",
    "stddev_sample": "stddev_samp",
    "variance": "var_samp",
    "correlation": "corr",
    "first_value": "first",
    "last_value": "last",
    "any_value": "first",
    "earliest_by_offset": "first",
    "latest_by_offset": "last",
    "every": "bool_and",
    "some": "bool_or",
    "any": "bool_or",
    "min_by": "arg_min",
    "max_by": "arg_max",
    "argmin": "arg_min",
    "argmax": "arg_max",
    "topk": "top_k",
    "topkdistinct": "top_k",
    "approx_distinct": "approx_count_distinct",
    "percentile_approx": "approx_percentile",
    "approx_quantile": "approx_percentile",
    "percentile": "percentile_cont",
    "quantile_cont": "percentile_cont",
    "quantile": "percentile_disc",
    "quantile_disc": "percentile_disc",
    "array_agg": "collect_list",
    "list": "collect_list",
    "listagg": "string_agg",
    "group_concat": "string_agg",
    "collect": "histogram",
}
MEAN_DISTINCT = frozenset({"topkdistinct"})
"""Spellings that say DISTINCT without the word."""
SKIP_NULLS = frozenset({"earliest_by_offset", "latest_by_offset"})
"""Spellings that say IGNORE NULLS without the words, as in ksqlDB."""

_BY_NAME = {known.name: known for known in SIGNATURES}


def signature(name: str) -> Signature | None:
    """The signature of a function or of an alias, in any case; None for no aggregate."""
    lower = name.lower()
    return _BY_NAME.get(ALIASES.get(lower, lower))
