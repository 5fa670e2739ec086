"""What works over Spark Connect: `results()` and `errors()`, as streaming DataFrames.

The functions of `foreachBatch` run in the server there. So what writes to sinks by itself would do
it in another process, maybe on another machine, and is refused: the functions of the caller's
would change nothing in the process that started the query, and the checkpoint's folder would be
elsewhere.
"""

from __future__ import annotations

from sqlwin.errors import InputError

CONNECT = (
    "{what} is not for a session of Spark Connect, whose foreachBatch runs in the server: sinks "
    "and checkpoint would be there and not in this process; legal are results() and errors(), or "
    "a classic session, such as SparkSession.builder.master('local[*]')"
)


def is_connect(spark: object) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect")


def refuse_connect(spark: object, what: str) -> None:
    """InputError for a session of Spark Connect."""
    if is_connect(spark):
        raise InputError(CONNECT.format(what=what))
