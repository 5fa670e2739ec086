"""Spark SQL as sqlglot reads it, less the functions whose names it forgets.

It reads PERCENTILE and QUANTILE as one, LISTAGG and STRING_AGG as another, though
they differ in what they mean; here they keep their names.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser

_KEEP_NAMES = ("PERCENTILE", "QUANTILE", "LISTAGG", "LIST")


def _others(known: dict[str, Any]) -> dict[str, Any]:
    return {name: parse for name, parse in known.items() if name not in _KEEP_NAMES}


class SqlwinSpark(Spark):
    class Parser(SparkParser):
        FUNCTIONS: ClassVar = _others(SparkParser.FUNCTIONS)
        FUNCTION_PARSERS: ClassVar = _others(SparkParser.FUNCTION_PARSERS)
