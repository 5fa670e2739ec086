"""A checkpoint of topics moves from one engine to the other: offsets go with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlwin.embedded.checkpoint import moves as embedded
from sqlwin.spark.checkpoint.exporting import export_checkpoint
from sqlwin.spark.checkpoint.importing import import_checkpoint
from tests.support.kafka import Broker
from tests.support.runtime.topics import FINAL, counted, order

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.long, pytest.mark.spark]


def test_there_and_back(broker: Broker, tmp_path: Path, spark: SparkSession) -> None:
    """Every record counts once, and is in one result of a topic."""
    topic, read = broker.topic("moved", partitions=2), []
    broker.topic("moved_out")

    def run(host: str, checkpoint: str, minute: int, drain: bool = False) -> None:
        for part in (0, 1):
            broker.send(topic, order(minute, 1), order(minute, 2, 30), partition=part)
        known = tmp_path / checkpoint
        found = counted(
            broker, topic, tmp_path, query=FINAL, host=host, checkpoint=known, drain=drain
        )
        read.append(found.read)

    run("process", "one", 0)
    embedded.export_checkpoint(tmp_path / "one", tmp_path / "first")
    import_checkpoint(spark, tmp_path / "first", tmp_path / "two", 2, 2)
    run("spark", "two", 1)
    export_checkpoint(spark, tmp_path / "two", tmp_path / "second")
    embedded.import_checkpoint(tmp_path / "second", tmp_path / "three")
    run("process", "three", 2, drain=True)
    assert read == [4, 4, 4]
    results = [json.loads(record.value()) for record in broker.read("moved_out")]
    assert [(row["window_start"][14:16], row["n"]) for row in results] == [
        ("00", 6),
        ("01", 6),
        ("02", 6),
    ]
