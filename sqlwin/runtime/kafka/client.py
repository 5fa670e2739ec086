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
from dataclasses import field
from functools import lru_cache
from re import fullmatch
from typing import Any, TypeVar

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.options.kafka_options import client_settings
from sqlwin.runtime.kafka.library import kafka
from sqlwin.runtime.kafka.retries import PAUSE_SECONDS, Noted, patiently, reason
from sqlwin.system.secrets import clear

Settings = tuple[tuple[str, str], ...]
AT_ONCE = 10_000
"""Records that are taken from the client in one call."""
FETCH_MILLIS = 50
"""How long a fetch may wait where there is nothing; the next partition's waits behind it."""
CALL_SECONDS = 5.0
_T = TypeVar("_T")
Part = tuple[str, int]
"""A topic, and the number of a partition."""


class Gone(RunError):
    """Records that the broker has no longer."""


@dataclass(frozen=True)
class Found:
    """Of a topic. id: "" where the broker tells none."""

    id: str
    partitions: tuple[int, ...]


def settings_of(options: Mapping[str, str]) -> Settings:
    """Of a stream or sink whose references are looked up."""
    own = {"bootstrap.servers": options["servers"], "log_level": "0", "client.id": "sqlwin"}
    given = {name: clear(value) for name, value in client_settings(options).items()}
    return tuple(sorted((own | given).items()))


@dataclass
class Consumer:
    """One for each cluster and its settings. at: topic, partition and offset it would read next."""

    settings: Settings = field(repr=False)
    client: Any = field(init=False, repr=False)
    admin: Any = field(init=False, repr=False)
    at: tuple[str, int, int] | None = None
    noted: Noted = field(default_factory=Noted, repr=False)

    def __post_init__(self) -> None:
        library = kafka()
        own = {
            "group.id": "sqlwin",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": FETCH_MILLIS,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "error_cb": self.noted,
        }
        try:
            self.client = library.Consumer({**dict(self.settings), **own})
            self.admin = library.admin.AdminClient({**dict(self.settings), "error_cb": self.noted})
        except library.KafkaException as failure:
            raise RunError(f"a setting of Kafka's client is wrong: {reason(failure)}") from failure

    def _patiently(self, what: str, wait: float, work: Callable[[], _T]) -> _T:
        def done() -> _T:
            try:
                return work()
            finally:
                self.admin.poll(0)  # what it has to say comes by a call alone

        return patiently(what, wait, done, self.noted)

    def matching(self, pattern: str, wait: float) -> list[str]:
        """Topics whose whole name a regular expression matches, but the cluster's own."""

        def listed() -> list[str]:
            return sorted(self.admin.list_topics(timeout=CALL_SECONDS).topics)

        there = self._patiently("list the topics", wait, listed)
        return [name for name in there if not name.startswith("__") and fullmatch(pattern, name)]

    def topics(self, names: Sequence[str], wait: float) -> dict[str, Found]:
        """RunError where there is no such topic."""
        library = kafka()
        unknown = library.KafkaError.UNKNOWN_TOPIC_OR_PART

        def described(name: str, answer: Any) -> Any:
            try:
                return answer.result(CALL_SECONDS)
            except library.KafkaException as failure:
                if failure.args[0].code() != unknown:
                    raise  # as while it has no leader yet
                raise RunError(f"cannot read topic {name}: {reason(failure)}") from failure

        def listed() -> dict[str, Any]:
            request = library.TopicCollection(list(names))
            given = self.admin.describe_topics(request, request_timeout=CALL_SECONDS)
            return {name: described(name, given[name]) for name in names}

        found = self._patiently(f"read topic {', '.join(names)}", wait, listed) if names else {}
        return {
            name: Found(_id(each), tuple(sorted(part.id for part in each.partitions)))
            for name, each in found.items()
        }

    def offsets(self, partitions: Iterable[Part], where: str | int, wait: float) -> dict[Part, int]:
        """Of each partition: `earliest`, `latest` (behind the last one that is committed), or the
        first from a time on, in milliseconds, which is the latest where there is none."""
        library = kafka()
        spec = {"earliest": library.admin.OffsetSpec.earliest, "latest": _latest}.get(str(where))
        wanted = library.admin.OffsetSpec.for_timestamp(where) if spec is None else spec()
        specs = {library.TopicPartition(*part): wanted for part in partitions}

        def found() -> dict[Part, int]:
            level = library.IsolationLevel.READ_COMMITTED
            given = self.admin.list_offsets(specs, isolation_level=level)
            return {
                (part.topic, part.partition): each.result(CALL_SECONDS).offset
                for part, each in given.items()
            }

        topics = ", ".join(dict.fromkeys(part.topic for part in specs))
        known = self._patiently(f"read the offsets of topic {topics}", wait, found) if specs else {}
        behind = [part for part, offset in known.items() if offset < 0]
        return {**known, **(self.offsets(behind, "latest", wait) if behind else {})}

    def records(self, topic: str, part: int, lo: int, hi: int, wait: float) -> list[Any]:
        """Those at lo <= offset < hi, of which transactions and compaction may have left few."""
        library = kafka()
        if self.at != (topic, part, lo):
            self.client.assign([library.TopicPartition(topic, part, lo)])
        self.at, found = None, list[Any]()
        self.noted.error = None
        until, at = time.monotonic() + wait, lo
        while at < hi:
            came = self.client.consume(min(AT_ONCE, hi - at), timeout=PAUSE_SECONDS)
            own = [each for each in came if (each.topic(), each.partition()) == (topic, part)]
            at = self._taken(found, own, at, hi)
            if came and came[-1].error() is None:
                until = time.monotonic() + wait
            elif at < hi and time.monotonic() > until:
                why = f"nothing came for {wait:g} s; {self.noted.text}".rstrip("; ")
                raise RunError(_unread(topic, part, at, hi, why))
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
                raise Gone(_unread(record.topic(), record.partition(), at, hi, why))
            else:
                self.noted(error)
        return at


def _latest() -> Any:
    return kafka().admin.OffsetSpec.latest()


def _id(topic: Any) -> str:
    """Brokers before 3.1 tell none, as if it were zero."""
    known = str(topic.topic_id) if topic.topic_id is not None else ""
    return "" if not known.strip("A=") else known


def _unread(topic: str, part: int, lo: int, hi: int, why: str) -> str:
    return f"cannot read {topic}/{part} from offset {lo} to {hi}: {why}"


@lru_cache(maxsize=8)
def consumer(settings: Settings) -> Consumer:
    return Consumer(settings)
