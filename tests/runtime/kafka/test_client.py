"""The client of a cluster that is not there."""

from __future__ import annotations

import time

import pytest

from sqlwin.errors import RunError
from sqlwin.runtime.kafka.client import Consumer, settings_of

AWAY = {"servers": "127.0.0.1:1", "kafka.sasl.password": "hunter2", "kafka.sasl.username": "me"}


@pytest.fixture
def away() -> Consumer:
    pytest.importorskip("confluent_kafka")
    return Consumer(settings_of(AWAY))


def test_offsets_are_waited_for(away: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlwin.runtime.kafka.client.CALL_SECONDS", 0.3)
    began = time.monotonic()
    with pytest.raises(RunError, match="cannot read the offsets of topic t: "):
        away.offsets([("t", 0)], "latest", wait=1.0)
    assert time.monotonic() - began >= 1.0


def test_a_password_is_not_shown(away: Consumer) -> None:
    assert "hunter2" not in repr(away)
