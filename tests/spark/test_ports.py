"""A query on a local Spark listens at no port, where a stranger would be taken for a worker."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sqlwin.spark.run import start
from sqlwin.sql import script
from tests.support.embedded.runs import land

TEXT = """
CREATE STREAM orders (value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
SELECT SUM(value) AS total FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end
"""
LISTENS = "0A"


def listening(process: int) -> set[str]:
    """The inodes of its sockets that wait for a connection over TCP."""
    waiting = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENS:
                waiting.add(f"socket:[{fields[9]}]")
    own = set()
    for each in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):
            own.add(os.readlink(each))  # noqa: PTH115  a text that is no path
    return waiting & own


@pytest.mark.spark
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_query_opens_no_port(spark: SparkSession, tmp_path: Path) -> None:
    """A client that goes on asking for a server that is gone, at a port that is Spark's by now, was
    taken for a worker: the worker waited for ever, or had "failed to connect back"."""
    land(tmp_path, "1", "09:00:10", 1)
    jvm = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    before, opened, ended = listening(jvm), set(), threading.Event()

    def watch() -> None:
        while not ended.wait(0.001):
            opened.update(listening(jvm) - before)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        query = start(spark, script(TEXT), tmp_path / "kept", lambda *_: None, tmp_path, end=True)
        query.awaitTermination()
    finally:
        ended.set()
        watching.join()
    assert not opened
