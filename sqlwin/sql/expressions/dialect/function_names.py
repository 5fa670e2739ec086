"""Names of functions: those that sqlglot may read as its own, and those that stay as written.

Invariant: a function of sqlwin's table, an aggregate, or a function that Spark does not have leaves
the parser under the name that it was called by; sqlglot would make some of them another's.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from sqlglot import exp

from sqlwin.functions.table import TABLE
from sqlwin.sql.expressions.dialect.arrows import CALLS

_KEEP_NAMES = (
    *("PERCENTILE", "QUANTILE", "LISTAGG", "GROUP_CONCAT", "LIST", "MODE", "MEDIAN"),
    *("STRING_AGG", "COVAR_POP", "COVAR_SAMP", "CORR"),
    *("APPROX_COUNT_DISTINCT", "APPROX_DISTINCT", "APPROX_PERCENTILE", "PERCENTILE_APPROX"),
    *("APPROX_QUANTILE", "BIT_AND", "BIT_OR", "BIT_XOR", "SKEWNESS", "KURTOSIS"),
    *("REGR_COUNT", "REGR_AVGX", "REGR_AVGY", "REGR_SXX", "REGR_SYY", "REGR_SXY"),
    *("REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "MIN_BY", "MAX_BY"),
)
"""Aggregates, whose arguments are read as they are written."""


_GRAMMAR = (*("CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING", "SUBSTR", "POSITION", "OVERLAY"),)
"""Functions of the table whose arguments have words between them."""


_WITH_UNIT = (
    *("DATEADD", "DATE_ADD", "TIMESTAMPADD", "DATEDIFF", "DATE_DIFF", "TIMEDIFF"),
    *("TIMESTAMPDIFF",),
)
"""Functions whose first argument of three is a unit, and no column."""


_UNKNOWN = (
    *("ARRAY_HAS", "ARRAY_INTERSECTION", "ARRAY_LENGTH", "CHARINDEX", "DATE_TO_DATE_STR"),
    *("GET_BIT", "IIF", "LAST_DAY_OF_MONTH", "STRPOS", "STR_POSITION", "TIMESTAMP_LTZ"),
    *("TIME_TO_TIME_STR", "TO_HEX", "TRUNCATE", "TS_OR_DS_TO_DATE_STR"),
)
"""Functions of other databases that sqlglot makes one of Spark's of; Spark refuses them."""


_READ_BY = {
    **dict.fromkeys(CALLS, "json_made"),
    **dict.fromkeys(("FLOOR", "CEIL", "CEILING"), "rounded_times"),
}


def _worded(parser: Any) -> exp.Expr:
    name = parser._tokens[parser._index - 2].text.upper()
    module = import_module(f"sqlwin.sql.expressions.dialect.{_READ_BY[name]}")
    read: exp.Expr = module.PARSERS[name](parser)
    return read


WORDED: dict[str, Callable[[Any], exp.Expr]] = dict.fromkeys(_READ_BY, _worded)
"""Parsers of functions that may have words between their arguments, in modules imported by need."""


def by_their_names(known: dict[str, Any]) -> dict[str, Any]:
    """Less those that sqlglot would make another function of."""
    own = {name for name in known if name.lower() in TABLE and name not in _GRAMMAR}
    excluded = own | {*_KEEP_NAMES, *_UNKNOWN}
    return {name: parse for name, parse in known.items() if name not in excluded}


def with_unit(call: exp.Expr | None) -> exp.Expr | None:
    if not isinstance(call, exp.Anonymous) or call.name.upper() not in _WITH_UNIT:
        return call
    first = call.expressions[0] if len(call.expressions) == 3 else None
    if isinstance(first, exp.Column) and not first.args.get("table"):
        first.replace(exp.Var(this=first.name.upper()))
    return call


def row_as_struct(call: exp.Expr | None) -> exp.Expr | None:
    """Flink's `ROW(a, b)` is Spark's `STRUCT(a, b)`."""
    if isinstance(call, exp.Anonymous) and call.name.upper() == "ROW":
        call.set("this", "STRUCT")
    return call
