"""Topics as sinks: a batch is there once, whatever is killed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sqlwin.errors import QueryError, RunError
from sqlwin.runtime.kafka.sink import KafkaSink, kafka_sink
from tests.support.kafka import Broker
from tests.support.runtime.topics import FINAL, HOSTS, counted, order

pytestmark = pytest.mark.long


def opened(broker: Broker, topic: str, changelog: str = "upsert", **options: str) -> KafkaSink:
    given = {"servers": broker.address, "topic": topic, "wait": "60 seconds", **options}
    return kafka_sink("s", given, 1, changelog)


def sent(broker: Broker, topic: str) -> list[Any]:
    return [(record.key(), record.value()) for record in broker.read(topic)]


CHANGES = pl.DataFrame(
    {
        "op": ["+I", "+U", "-D"],
        "emit": ["early", "late", "late"],
        "revision": [0, 1, 2],
        "row_key": ["a", "a", "a"],
        "k": [1, 1, 1],
        "n": [5, 6, 6],
    }
)


@pytest.mark.parametrize(
    ("changelog", "options", "key", "first", "last"),
    [
        ("upsert", {}, b"a", {"k": 1, "n": 5}, None),
        ("upsert", {"unique": "k"}, b"1", {"k": 1, "n": 5}, None),
        ("upsert", {"unique": "k, row_key"}, b'{"k": 1, "row_key": "a"}', {"k": 1, "n": 5}, None),
        ("retract", {}, b"a", CHANGES.row(0, named=True), CHANGES.row(2, named=True)),
    ],
)
def test_a_change_is_a_record(
    broker: Broker,
    changelog: str,
    options: dict[str, str],
    key: bytes,
    first: dict[str, Any],
    last: dict[str, Any] | None,
) -> None:
    topic = broker.topic(f"changes_{changelog}_{len(options.get('unique', ''))}")
    opened(broker, topic, changelog, **options).write(1, CHANGES)
    found = [(k, v and json.loads(v)) for k, v in sent(broker, topic)]
    assert [k for k, _ in found] == [key] * 3
    assert (found[0][1], found[2][1]) == (first, last)


def test_rows_that_never_change_have_no_key(broker: Broker) -> None:
    topic = broker.topic("appended")
    opened(broker, topic, "append").write(1, pl.DataFrame({"n": [5]}))
    assert sent(broker, topic) == [(None, b'{"n": 5}')]


def test_a_batch_of_one_run_is_there_once(broker: Broker) -> None:
    topic = broker.topic("once")
    for run, batch in [("a", 1), ("a", 2), ("a", 2), ("a", 1), ("b", 1), ("b", 1)]:
        sink = opened(broker, topic, "append")
        sink.run = run
        sink.write(batch, pl.DataFrame({"run": [run], "batch": [batch]}))
    found = [json.loads(value) for _, value in sent(broker, topic)]
    assert [(each["run"], each["batch"]) for each in found] == [("a", 1), ("a", 2), ("b", 1)]


def test_what_cannot_be_written_is_said(broker: Broker) -> None:
    with pytest.raises(RunError, match=r"cannot write to topic gone of sink s: .*Unknown topic"):
        opened(broker, "gone").write(1, CHANGES)
    with pytest.raises(QueryError, match="the option unique of sink s names x, no column"):
        opened(broker, "gone", unique="x").write(1, CHANGES)


def ends(broker: Broker, topic: str) -> list[int]:
    return [json.loads(value)["n"] for _, value in sent(broker, f"{topic}_out")]


@pytest.mark.parametrize("moment", ["before the commit", "before sending", "after sending"])
def test_a_run_that_is_killed_sends_each_batch_once(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    topic = broker.topic(f"killed_{moment.replace(' ', '_')}")
    broker.topic(f"{topic}_out")
    broker.send(topic, *(order(minute, minute) for minute in range(6)))
    known = {"checkpoint": tmp_path / "checkpoint", "more": ", 'max.records' = 2"}
    with monkeypatch.context() as patch:
        at, method = _MOMENTS[moment]
        patch.setattr(at, _dying(at, method.rpartition(".")[2], moment))
        with pytest.raises(KeyboardInterrupt):
            counted(broker, topic, tmp_path, query=FINAL, **known)
    counted(broker, topic, tmp_path, query=FINAL, drain=True, **known)
    assert ends(broker, topic) == [0, 1, 2, 3, 4, 5]


_MOMENTS = {
    "before the commit": ("sqlwin.embedded.script_query.ScriptQuery._commit", "_commit"),
    "before sending": ("sqlwin.runtime.kafka.sink.KafkaSink.write", "write"),
    "after sending": ("sqlwin.runtime.kafka.sink.KafkaSink.write", "write"),
}


def _dying(path: str, name: str, moment: str) -> Callable[..., object]:
    """The method, which is interrupted the second time."""
    import sqlwin.embedded.script_query
    import sqlwin.runtime.kafka.sink

    of = KafkaSink if name == "write" else sqlwin.embedded.script_query.ScriptQuery
    method, calls = getattr(of, name), iter(range(100))

    def dying(*given: Any) -> object:
        dies = next(calls) == 1
        if dies and moment != "after sending":
            raise KeyboardInterrupt
        found = method(*given)
        if dies:
            raise KeyboardInterrupt
        return found

    return dying


@pytest.mark.parametrize("host", HOSTS)
def test_a_broker_that_is_killed_has_each_batch_once(
    broker: Broker, tmp_path: Path, host: str
) -> None:
    """The topic that is read, and the one that is written to."""
    topic = broker.topic(f"broken_{host}")
    broker.topic(f"{topic}_out")
    broker.send(topic, *(order(minute, minute) for minute in range(8)))
    query = FINAL.replace("_out'", "_out', wait = '60 seconds'")
    more = ", 'max.records' = 2, wait = '60 seconds'"
    with broker.restarting(at=2) as on_batch:
        counted(broker, topic, tmp_path, more, query=query, host=host, on_batch=on_batch)
    assert ends(broker, topic) == list(range(8))
