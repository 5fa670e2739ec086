"""The client of a Kafka cluster: settings, offsets of a topic, and records between two offsets.

confluent-kafka comes with the extra `kafka` of the package. A consumer joins no group: what is
read is said by offsets, which are part of the checkpoint. A client is kept for the process, since a
connection takes longer than a batch.

A broker that is away is waited for; what fails longer than `wait` is a RunError, and the last
commit stands.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from sqlwin.errors import RunError
from sqlwin.plan.options.kafka_options import client_settings
from sqlwin.secrets import clear

MISSING = "Kafka needs confluent-kafka: pip install 'sqlwin[kafka]'"
Settings = tuple[tuple[str, str], ...]
AT_ONCE = 10_000
"""Records that are taken from the client in one call."""
FETCH_MILLIS = 50
"""How long a fetch may wait where there is nothing; the next partition's waits behind it."""
CALL_SECONDS, PAUSE_SECONDS = 5.0, 0.2
_T = TypeVar("_T")


def kafka() -> Any:
    """The library. RunError where it is not installed."""
    try:
        import confluent_kafka
        import confluent_kafka.admin
    except ImportError as missing:
        raise RunError(MISSING) from missing
    return confluent_kafka


def settings_of(options: Mapping[str, str]) -> Settings:
    """Of a stream or sink whose references are looked up."""
    own = {"bootstrap.servers": options["servers"], "log_level": "0", "client.id": "sqlwin"}
    given = {name: clear(value) for name, value in client_settings(options).items()}
    return tuple(sorted((own | given).items()))


def patiently(what: str, wait: float, work: Callable[[], _T]) -> _T:
    """Do it, again while it fails for less than `wait` seconds; then RunError."""
    failures = (kafka().KafkaException, TimeoutError)
    until = time.monotonic() + wait
    while True:
        try:
            return work()
        except failures as failure:
            if time.monotonic() > until or not _passes(failure):
                raise RunError(f"cannot {what}: {_words(failure)}") from failure
        time.sleep(PAUSE_SECONDS)


def _passes(failure: Exception) -> bool:
    """Whether it may be otherwise the next time: not where a setting or a right is wrong."""
    if isinstance(failure, TimeoutError):
        return True
    error, known = failure.args[0], kafka().KafkaError
    final = (
        known._AUTHENTICATION,
        known._INVALID_ARG,
        known.TOPIC_AUTHORIZATION_FAILED,
        known.SASL_AUTHENTICATION_FAILED,
        known.CLUSTER_AUTHORIZATION_FAILED,
    )
    return error.code() not in final and not error.fatal()


def _words(failure: Exception) -> str:
    if isinstance(failure, TimeoutError):
        return "no broker answers"
    error = failure.args[0]
    return str(error.str() if hasattr(error, "str") else error)


@dataclass
class Consumer:
    """One for each cluster and its settings. at: topic, partition and offset it would read next."""

    settings: Settings = field(repr=False)
    client: Any = field(init=False, repr=False)
    admin: Any = field(init=False, repr=False)
    at: tuple[str, int, int] | None = None
    last_error: str = ""

    def __post_init__(self) -> None:
        library = kafka()
        own = {
            "group.id": "sqlwin",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": FETCH_MILLIS,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "error_cb": self._noted,
        }
        try:
            self.client = library.Consumer({**dict(self.settings), **own})
            self.admin = library.admin.AdminClient(dict(self.settings))
        except library.KafkaException as failure:
            raise RunError(f"a setting of Kafka's client is wrong: {_words(failure)}") from failure

    def _noted(self, error: Any) -> None:
        self.last_error = error.str()

    def partitions(self, topic: str, wait: float) -> list[int]:
        """RunError where there is no such topic."""

        def listed() -> Any:
            topics = self.admin.list_topics(topic, timeout=CALL_SECONDS).topics[topic]
            if topics.error is not None and topics.error.code() != unknown:
                raise kafka().KafkaException(topics.error)  # as while it has no leader yet
            return topics

        unknown = kafka().KafkaError.UNKNOWN_TOPIC_OR_PART
        found = patiently(f"read topic {topic}", wait, listed)
        if found.error is not None or not found.partitions:
            why = "it does not exist" if found.error is None else found.error.str()
            raise RunError(f"cannot read topic {topic}: {why}")
        return sorted(found.partitions)

    def offsets(
        self, topic: str, partitions: Iterable[int], where: str | int, wait: float
    ) -> dict[int, int]:
        """Of each partition: `earliest`, `latest` (behind the last one that is committed), or the
        first from a time on, in milliseconds, which is the latest where there is none."""
        library = kafka()
        spec = {"earliest": library.admin.OffsetSpec.earliest, "latest": _latest}.get(str(where))
        wanted = library.admin.OffsetSpec.for_timestamp(where) if spec is None else spec()
        specs = {library.TopicPartition(topic, part): wanted for part in partitions}

        def found() -> dict[int, int]:
            level = library.IsolationLevel.READ_COMMITTED
            given = self.admin.list_offsets(specs, isolation_level=level)
            return {
                part.partition: each.result(CALL_SECONDS).offset for part, each in given.items()
            }

        known = patiently(f"read the offsets of topic {topic}", wait, found) if specs else {}
        behind = [part for part, offset in known.items() if offset < 0]
        return {**known, **(self.offsets(topic, behind, "latest", wait) if behind else {})}

    def records(self, topic: str, part: int, lo: int, hi: int, wait: float) -> list[Any]:
        """Those at lo <= offset < hi, of which transactions and compaction may have left few."""
        library = kafka()
        if self.at != (topic, part, lo):
            self.client.assign([library.TopicPartition(topic, part, lo)])
        self.at, found = None, list[Any]()
        until, at = time.monotonic() + wait, lo
        while at < hi:
            came = self.client.consume(min(AT_ONCE, hi - at), timeout=PAUSE_SECONDS)
            own = [each for each in came if (each.topic(), each.partition()) == (topic, part)]
            at = self._taken(found, own, at, hi)
            if came and came[-1].error() is None:
                until = time.monotonic() + wait
            elif at < hi and time.monotonic() > until:
                why = f"nothing came for {wait:g} s; {self.last_error}".rstrip("; ")
                raise _unread(topic, part, at, hi, why)
        if found and found[-1].offset() == hi - 1:
            self.at = (topic, part, hi)
        return [record for record in found if record.offset() < hi]

    def _taken(self, found: list[Any], came: Sequence[Any], at: int, hi: int) -> int:
        """Up to where the partition is known after some more of it."""
        known = kafka().KafkaError
        for record in came:
            error = record.error()
            if error is None:
                found.append(record)
                at = record.offset() + 1
            elif error.code() == known._PARTITION_EOF:
                at = max(at, min(record.offset(), hi))
            elif error.code() in (known._AUTO_OFFSET_RESET, known.OFFSET_OUT_OF_RANGE):
                why = "its records are gone, by the topic's retention or by its deletion"
                raise _unread(record.topic(), record.partition(), at, hi, why)
            else:
                self.last_error = error.str()
        return at


def _latest() -> Any:
    return kafka().admin.OffsetSpec.latest()


def _unread(topic: str, part: int, lo: int, hi: int, why: str) -> RunError:
    return RunError(f"cannot read {topic}/{part} from offset {lo} to {hi}: {why}")


@lru_cache(maxsize=8)
def consumer(settings: Settings) -> Consumer:
    return Consumer(settings)
