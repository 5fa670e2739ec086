"""The aggregate functions: their names, arguments, constants and result types.

An *incremental* aggregate keeps an accumulator of bounded size, lifted from rows,
merged with others, finished into a value. A *full state* one needs the values
themselves. Result types follow Spark SQL; `docs/aggregates.md` is the table.

>>> import pyarrow as pa
>>> signature("max_by").name
'arg_max'
>>> str(signature("sum").result((pa.decimal128(10, 2),)))
'decimal128(20, 2)'
>>> median = signature("percentile_approx")
>>> [param.value for param in median.params], str(median.returns((pa.int32(),), listed=True))
(['a fraction from 0 to 1', 'a positive integer'], 'list<item: int32>')
>>> signature("sum").keeps_values(distinct=True), signature("min").keeps_values(distinct=True)
(True, False)
"""

from __future__ import annotations

from sqlwin.aggregates.refused import REFUSED
from sqlwin.aggregates.results import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    STRING,
    Types,
    is_numeric,
    is_orderable,
)
from sqlwin.aggregates.signature import Distinct, Nothing, Param, Signature
from sqlwin.aggregates.signatures import SIGNATURES
from sqlwin.aggregates.spellings import ALIASES, MEAN_DISTINCT, SKIP_NULLS, signature

__all__ = [
    "ALIASES",
    "BIGINT",
    "BINARY",
    "BOOLEAN",
    "DOUBLE",
    "MEAN_DISTINCT",
    "REFUSED",
    "SIGNATURES",
    "SKIP_NULLS",
    "STRING",
    "Distinct",
    "Nothing",
    "Param",
    "Signature",
    "Types",
    "is_numeric",
    "is_orderable",
    "signature",
]
