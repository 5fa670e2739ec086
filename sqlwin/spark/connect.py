"""Spark Connect is refused, with the reason.

The functions of `foreachBatch` run in the server there, so neither a sink of the caller's nor the
progress that a batch leaves for the next one would be in the process that started the query.
"""

from __future__ import annotations

from sqlwin.errors import InputError

CONNECT = (
    "the session is one of Spark Connect, whose foreachBatch runs in the server: sinks and the "
    "progress of batches would not be in this process; legal is a classic session, such as "
    "SparkSession.builder.master('local[*]'), or spark-submit to the cluster"
)


def refuse_connect(spark: object) -> None:
    """InputError for a session of Spark Connect."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise InputError(CONNECT)
