"""Topics that are no longer what they were when they were read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlwin.errors import RunError
from tests.support.kafka import Broker
from tests.support.runtime.topics import HOSTS, counted, order, written

pytestmark = pytest.mark.long


@pytest.mark.parametrize("more", [0, 5])
def test_a_topic_that_is_made_anew_is_refused(broker: Broker, tmp_path: Path, more: int) -> None:
    """Also where it is longer than it was."""
    topic, known = broker.topic(f"anew_{more}"), tmp_path / "checkpoint"
    broker.send(topic, order(0, 0), order(1, 1))
    counted(broker, topic, tmp_path, checkpoint=known)
    broker.delete(topic)
    broker.topic(topic)
    broker.send(topic, *(order(9, 9) for _ in range(more)))
    with pytest.raises(RunError, match=f"topic {topic} was deleted and made anew since it was"):
        counted(broker, topic, tmp_path, checkpoint=known)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("0:3", "stream orders is to start with offset 3 of beyond/0, which has 1 up to 2"),
        ("0:0", "stream orders is to start with offset 0 of beyond/0, which has 1 up to 2"),
        ("7:0", "stream orders is to start with an offset of partition 7, and there are beyond/0"),
        ("beyond/0:9", "stream orders is to start with offset 9 of beyond/0, which has 1 up to 2"),
    ],
)
def test_a_start_that_is_not_there(
    broker: Broker, tmp_path: Path, start: str, message: str
) -> None:
    if "beyond" not in broker.admin.list_topics(timeout=30).topics:
        broker.topic("beyond")
        broker.send("beyond", order(0, 0), order(1, 1))
        broker.forget("beyond", before=1)
    with pytest.raises(RunError) as refusal:
        counted(broker, "beyond", tmp_path, f", start = '{start}'")
    assert str(refusal.value) == message


CLIENT = ", 'kafka.client.id' = '${{file:{}/client}}'"


@pytest.mark.parametrize("host", HOSTS)
def test_records_that_are_gone_are_refused(broker: Broker, tmp_path: Path, host: str) -> None:
    more = CLIENT.format(tmp_path)
    topic, known = _read_in_part(broker, tmp_path, host, more)
    with pytest.raises(RunError, match=rf"cannot read {topic}/0 from offset \d to 6: its records"):
        counted(broker, topic, tmp_path, more, host=host, checkpoint=known)


@pytest.mark.parametrize("host", HOSTS)
def test_records_that_are_gone_are_passed_over(broker: Broker, tmp_path: Path, host: str) -> None:
    more, said = CLIENT.format(tmp_path) + ", 'fail.on.data.loss' = 'false'", list[str]()
    topic, known = _read_in_part(broker, tmp_path, host, more)
    options: dict[str, Any] = {"checkpoint": known, "drain": True, "on_warning": said.append}
    counted(broker, topic, tmp_path, more, host=host, **options)
    assert [row["n"] for row in written(tmp_path)] == [0, 1, 4, 5]
    assert said == [f"{topic}/0: the records from offset 2 up to 4 are gone and not read"]


def _read_in_part(broker: Broker, folder: Path, host: str, more: str) -> tuple[str, Path]:
    """Two records are read, and two of the next four are gone. The second run has another client,
    for the first one's may have fetched them before."""
    topic, known = broker.topic(f"gone_{host}_{len(more)}"), folder / "checkpoint"
    (folder / "client").write_text("first")
    broker.send(topic, *(order(minute, minute) for minute in range(2)))
    counted(broker, topic, folder, more, host=host, checkpoint=known)
    broker.send(topic, *(order(minute, minute) for minute in range(2, 6)))
    broker.forget(topic, before=4)
    (folder / "client").write_text("second")
    return topic, known


def test_a_partition_that_is_added_later_is_read_whole(broker: Broker, tmp_path: Path) -> None:
    """Also where the first run began with the latest record."""
    topic, known = broker.topic("added"), tmp_path / "checkpoint"
    broker.send(topic, order(0, 1))
    more = ", start = 'latest'"
    counted(broker, topic, tmp_path, more, checkpoint=known)
    broker.grow(topic, 2)
    broker.send(topic, order(1, 10), order(2, 20), partition=1)
    broker.send(topic, order(1, 1), partition=0)
    counted(broker, topic, tmp_path, more, checkpoint=known, drain=True)
    assert [row["n"] for row in written(tmp_path)] == [11, 20]
