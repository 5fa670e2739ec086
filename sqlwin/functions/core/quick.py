"""The engine's own text for the usual values of a function, and the exact rule for the others.

DuckDB has most functions that Spark has, with other meanings at the edges. Where a cheap test of
a value says that the two are the same, DuckDB's is taken. CASE looks at all values of a column
at once, and computes what is exact for those only that fail the test: mostly none.

A value that the test and the quick text both have, a cast, say, is computed once if the first of
the conditions that AND puts together has it.

>>> usual("{0} > 0", "round({0})", "spark_round({0})")
'CASE WHEN {0} > 0 THEN round({0}) WHEN {0} IS NOT NULL THEN spark_round({0}) END'
"""

from __future__ import annotations


def usual(test: str, quick: str, exact: str, given: str = "{0}") -> str:
    """test: NULL or false where `quick` may be wrong. NULL of what is given is NULL."""
    return f"CASE WHEN {test} THEN {quick} WHEN {given} IS NOT NULL THEN {exact} END"
