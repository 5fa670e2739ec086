"""A topic that results go to: a record each, a batch in one transaction.

Kafka cannot replace what was written, so a batch is sent once: its transaction commits, as the
offset of a group that nobody reads by, the number of the batch and the run it is of. A batch that
is sent again after a crash is found there, and nothing is sent. Whoever writes sends a batch again
with the same rows, see `Outlet.sends`. A value is JSON, or Avro:

    changelog   value                              a result that is deleted
    append      the columns of the result
    upsert      the columns of the result          no value: a tombstone
    retract     and op, emit, revision, row_key    a record as any other, `-D`
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from queue import Empty, Queue
from typing import Any

import polars as pl

from sqlwin.durations import micros
from sqlwin.errors import QueryError, RunError
from sqlwin.instants import SECOND
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.options.table_options import key_columns
from sqlwin.runtime.kafka.avro import Avro, codec
from sqlwin.runtime.kafka.client import CALL_SECONDS, Settings, settings_of
from sqlwin.runtime.kafka.keys import is_text
from sqlwin.runtime.kafka.library import kafka
from sqlwin.runtime.kafka.retries import PAUSE_SECONDS, Noted, is_final
from sqlwin.runtime.rows.render import cell, json_lines
from sqlwin.schema import CHANGELOG_NAMES, OP, ROW_KEY

_OP, _ROW_KEY = CHANGELOG_NAMES[OP], CHANGELOG_NAMES[ROW_KEY]
COMMIT_SECONDS = 20.0
ABANDONED_SECONDS = 2 * CALL_SECONDS
Record = tuple[str | None, str | bytes | None]
"""Key and value."""


@dataclass
class KafkaSink:
    """key: columns whose values are the key of a record. changes: upsert, retract or append.
    id: of its transactions, and of no other writer's. wait: seconds until a failure that may pass
    is final. run: whose batches are numbered; "" as long as it is not known."""

    sink: str
    topic: str
    settings: Settings = field(repr=False)
    key: tuple[str, ...]
    changelog: str
    id: str
    wait: float
    avro: Avro | None = None
    run: str = ""
    _producer: Any = field(default=None, repr=False)
    _group: Any = field(default=None, repr=False)
    _noted: Noted = field(default_factory=Noted, repr=False)

    def write(self, batch: int, rows: pl.DataFrame) -> None:
        if rows.is_empty():
            return
        sent, until = list(self.records(rows)), time.monotonic() + self.wait
        while True:
            try:
                self._send(batch, sent)
                return
            except kafka().KafkaException as failure:
                self._producer = None  # which may not know whether the transaction is done
                error = self._cause(failure.args[0])
                if time.monotonic() > until or not _passes(error):
                    message = f"cannot write to topic {self.topic} of sink {self.sink}"
                    raise RunError(f"{message}: {error.str()}") from failure
            time.sleep(PAUSE_SECONDS)

    def _cause(self, error: Any) -> Any:
        """What the client has noted, where all that it answers is that nobody does."""
        if self._group is not None:
            self._group.poll(0)
        noted = self._noted.error
        return noted if noted is not None and is_final(noted) else error

    def records(self, rows: pl.DataFrame) -> Iterator[Record]:
        """In the order of rows. QueryError for a key that is no column."""
        unknown = [name for name in self.key if name not in rows.columns]
        if unknown:
            message = f"the option unique of sink {self.sink} names {unknown[0]}, no column"
            raise QueryError(message, legal=", ".join(rows.columns))
        dropped = CHANGELOG_NAMES.values() if self.changelog == "upsert" else ()
        values = self._values(rows.drop(dropped, strict=False))
        upserts = self.changelog == "upsert" and _OP in rows.columns
        gone = rows[_OP] == "-D" if upserts else pl.repeat(False, len(rows), eager=True)
        for key, value, deleted in zip(self._keys(rows), values, gone, strict=True):
            yield key, None if deleted else value

    def _values(self, rows: pl.DataFrame) -> Iterator[str | bytes]:
        if self.avro is None:
            yield from json_lines(rows)
        else:
            yield from self.avro.encoded(rows)

    def _keys(self, rows: pl.DataFrame) -> Iterator[str | None]:
        """One column as its text; several, or a text that is read as JSON, as a JSON object."""
        key = self.key or tuple(name for name in (_ROW_KEY,) if name in rows.columns)
        if not key:
            return iter([None] * len(rows))
        objects = json_lines(rows.select(key))
        if len(key) > 1:
            return objects
        texts = [None if value is None else cell(value) for value in rows[key[0]]]
        read = [text is None or is_text(text) for text in texts]
        if all(read) or key == (_ROW_KEY,):
            return iter(texts)
        return (t if r else line for t, r, line in zip(texts, read, objects, strict=True))

    def _send(self, batch: int, records: list[Record]) -> None:
        library = kafka()
        producer = self._open()
        if self._sent(batch):
            return
        producer.begin_transaction()
        for key, value in records:
            self._produce(producer, key, value)
        mark = library.TopicPartition(self.topic, 0, batch, self.run)
        group = self._group.consumer_group_metadata()
        _within(lambda: producer.send_offsets_to_transaction([mark], group, CALL_SECONDS))
        producer.commit_transaction(COMMIT_SECONDS)

    def _produce(self, producer: Any, key: str | None, value: str | bytes | None) -> None:
        while True:
            try:
                producer.produce(self.topic, value, key)
                producer.poll(0)
                return
            except BufferError:
                producer.poll(PAUSE_SECONDS)

    def _open(self) -> Any:
        """A producer whose transactions before this one are complete or undone."""
        if self._producer is None:
            library, settings = kafka(), dict(self.settings)
            own: dict[str, Any] = {"group.id": self.id, "isolation.level": "read_committed"}
            own["error_cb"] = self._noted
            self._group = library.Consumer({**settings, **own, "enable.auto.commit": False})
            there = self._group.list_topics(self.topic, timeout=self.wait).topics[self.topic]
            if there.error is not None:
                raise library.KafkaException(there.error)
            opened = library.Producer({**settings, "transactional.id": self.id, "linger.ms": 5})
            opened.init_transactions(self.wait)
            self._producer = opened
        return self._producer

    def _sent(self, batch: int) -> bool:
        """Whether the batch, or a later one, of this run is in the topic."""
        where = kafka().TopicPartition(self.topic, 0)
        (known,) = self._group.committed([where], timeout=self.wait)
        if known.error is not None:
            raise kafka().KafkaException(known.error)
        return bool(known.metadata == self.run and known.offset >= batch)


def _within(call: Callable[[], object]) -> None:
    """Do it; KafkaException where it does not return. librdkafka may wait for ever, whatever limit
    it is given, for the offsets of a transaction whose broker was killed amid it. Such a producer
    is abandoned: the next one of the same id undoes its transaction."""
    done: Queue[BaseException | None] = Queue()

    def doing() -> None:
        try:
            call()
        except kafka().KafkaException as failure:
            done.put(failure)
        else:
            done.put(None)

    threading.Thread(target=doing, daemon=True).start()
    try:
        failure = done.get(timeout=ABANDONED_SECONDS)
    except Empty:
        library = kafka()
        timed_out = library.KafkaError(library.KafkaError._TIMED_OUT)
        raise library.KafkaException(timed_out) from None
    if failure is not None:
        raise failure


def _passes(error: Any) -> bool:
    """Not where a setting or a right is wrong, or another writer has taken the transactions."""
    known = kafka().KafkaError
    final = (
        known._AUTHENTICATION,
        known._INVALID_ARG,
        known._FENCED,
        known.UNKNOWN_TOPIC_OR_PART,
        known.TOPIC_AUTHORIZATION_FAILED,
        known.SASL_AUTHENTICATION_FAILED,
    )
    return error.code() not in final


def kafka_sink(sink: str, options: Mapping[str, str], writer: int, changelog: str) -> KafkaSink:
    """writer: the number of this one among those that write to the same sink, from 1."""
    own = f"sqlwin-{options['topic']}-{sink}"
    id_ = options.get("transactional.id", own)
    return KafkaSink(
        sink,
        options["topic"],
        settings_of(options),
        key_columns(options["unique"]) if "unique" in options else (),
        changelog,
        id_ if writer == 1 else f"{id_}-{writer}",
        micros(options.get("wait", "30 seconds"), None) / SECOND,
        codec(f"sink {sink}", options, options["topic"]),
    )
