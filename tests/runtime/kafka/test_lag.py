"""Consumer lag: how far behind the end of each partition a batch has read."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.connectors.metrics import QueryMetrics, Totals
from sqlwin.runtime.connectors.sources import lags, source_of
from sqlwin.runtime.files.ends import End
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.schema import Column
from tests.support.kafka import Broker
from tests.support.runtime.topics import HOSTS, counted, order

pytestmark = pytest.mark.long


@pytest.mark.parametrize("host", HOSTS)
def test_each_batch_has_its_lag(broker: Broker, tmp_path: Path, host: str) -> None:
    """Batches of two records of each partition; one came after the run began."""
    topic, found = broker.topic(f"lag_{host}", partitions=2), list[QueryMetrics]()
    broker.send(topic, *(order(minute, 1) for minute in range(5)), partition=0)
    broker.send(topic, order(0, 1), partition=1)

    def on_metrics(batch: QueryMetrics) -> None:
        if not found:
            broker.send(topic, order(9, 1), partition=1)
        found.append(batch)

    more = ", 'max.records' = 4"
    counted(broker, topic, tmp_path, more, host=host, drain=True, on_metrics=on_metrics)
    lags = [batch.lag["orders"] for batch in found]
    expected = [{f"{topic}/0": zero, f"{topic}/1": one} for zero, one in [(3, 0), (1, 1), (0, 1)]]
    assert lags[:3] == expected
    assert json.loads(found[1].line())["consumer_lag"] == {"orders": expected[1]}
    totals = Totals()
    totals.add(found[1])
    line = f'sqlwin_consumer_lag{{query="0",stream="orders",partition="{topic}/1"}} 1'
    assert line in totals.text().splitlines()


def test_a_broker_that_is_away_ends_no_run() -> None:
    columns = (Column("a", pa.int32()),)
    options = (("connector", "kafka"), ("servers", "127.0.0.1:1"), ("topic", "t"))
    source = source_of(Stream("s", columns, None, options=options))
    assert lags(source, FileProgress(files={"t/0": End(3, "0:")})) == {}
