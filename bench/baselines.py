"""The same queries without sqlwin: Spark's own window() and a processor over rows.

Spark keeps its usual settings, but for what helps it here: as many shuffle
partitions as cores, no adaptive planning, RocksDB for state.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming import DataStreamWriter

from bench.data import Data
from bench.progress import Account
from bench.queries import DELAY_SECONDS, OVER, TUMBLE, Question
from bench.row_at_a_time import OVER_OUT, TUMBLE_OUT, InPandas, InRows, Sliding, Tumbling
from bench.run import Asked, Done

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
OBSERVED = "answers"


def run(asked: Asked, question: Question, data: Data) -> Done:
    spark = session(asked.cores)
    account = Account()
    spark.streams.addListener(account)
    events = read(spark, data, asked.batch_files)
    results = answers(events, question, asked.way)
    observed = Observed(spark)
    spark.streams.addListener(observed)
    mode = "update" if asked.way == "update" else "append"
    counted = results.observe(OBSERVED, F.count(F.lit(1)).alias("n"))
    with tempfile.TemporaryDirectory(prefix="bench-") as checkpoint:
        query = (
            _into(counted, asked.results_path)
            .outputMode(mode)
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        batches = account.all()
    spark.stop()
    return Done(batches, emitted=observed.count, refused=0)
