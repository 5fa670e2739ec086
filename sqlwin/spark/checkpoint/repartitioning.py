"""A checkpoint on Spark, cut into other buckets."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from sqlwin.errors import InputError
from sqlwin.spark.checkpoint.exporting import export_checkpoint
from sqlwin.spark.checkpoint.importing import check_cut, import_checkpoint


def repartition(
    spark: SparkSession, checkpoint: Path, buckets: int, partitions: int | None = None
) -> Path:
    """Cut a checkpoint into other buckets; where the one before is now.

    partitions: of the shuffle, None: as many as buckets. It is exported and imported; where that
    fails the checkpoint is in its place again.
    """
    check_cut(buckets, partitions)
    path = checkpoint.resolve()
    file, before = (path.with_name(path.name + ending) for ending in (".export", ".before"))
    if before.exists():
        raise InputError(f"{before} is there already: it is where the checkpoint of before goes")
    export_checkpoint(spark, path, file)
    try:
        path.rename(before)
        try:
            import_checkpoint(spark, file, path, buckets, partitions or buckets)
        except BaseException:
            before.rename(path)
            raise
    finally:
        file.unlink(missing_ok=True)
    return before
