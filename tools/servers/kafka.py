"""A Kafka broker for tests and demos: one KRaft node on a loopback port, no Docker.

Its jars are resolved once, by the resolver of PySpark, and kept in a folder of the user's cache. A
broker has a folder of its own, so one that was killed starts again with what it had committed.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tools.servers.ports import free_port
from tools.servers.unavailable import Unavailable

VERSION = "4.1.0"
PACKAGE = f"org.apache.kafka:kafka_2.13:{VERSION}"
CACHE = Path.home() / ".cache" / "sqlwin" / f"kafka-{VERSION}"
MISSING = "no Kafka broker can be had here: "
START_SECONDS = 90
MEMORY = "-Xmx256m"
# Records are as old as their timestamps say: the default retention would delete those of last week.
SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={home}/data
auto.create.topics.enable=false
num.partitions=1
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=1500
broker.heartbeat.interval.ms=300
log.retention.ms=-1
"""


def java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin/java" if home else shutil.which("java")


def jars(program: str) -> Path:
    """The folder of the broker's jars, resolved the first time. OSError where they cannot be."""
    done = CACHE / "complete"
    if done.exists():
        return CACHE / "jars"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker of the tests may be at it
        resolve = [
            *("org.apache.spark.deploy.SparkSubmit", "--conf", f"spark.jars.ivy={CACHE}"),
            *("--packages", PACKAGE, "--class", "kafka.tools.StorageTool"),
            *("spark-internal", "random-uuid"),
        ]
        found = _run(program, [_spark_jars()], resolve)
        if found.returncode:
            raise OSError(found.stdout.decode(errors="replace").strip()[-300:])
        done.touch()
    return CACHE / "jars"


def _spark_jars() -> Path:
    spark = importlib.util.find_spec("pyspark")
    assert spark is not None
    assert spark.origin is not None
    return Path(spark.origin).parent / "jars"


def _run(program: str, folders: list[Path], arguments: list[str]) -> Any:
    return subprocess.run(
        [program, MEMORY, "-cp", _classes(folders), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=300,
    )


def _classes(folders: list[Path]) -> str:
    """Spark's resolver leaves out Scala, which Spark has."""
    return os.pathsep.join([*(f"{each}/*" for each in folders), *map(str, _scala())])


def _scala() -> list[Path]:
    return sorted(_spark_jars().glob("scala-*.jar"))


Settings = Callable[[Path, int, int], str]


@contextmanager
def running(more: Settings | None = None) -> Iterator[Broker]:
    """One that is there for the block. Unavailable where there can be none. more: settings by its
    folder and its ports, of which the last of a name counts."""
    program = java()
    if program is None:
        raise Unavailable(f"{MISSING}there is no Java")
    try:
        folder = jars(program)
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise Unavailable(f"{MISSING}its jars cannot be resolved: {failure}") from failure
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        broker = Broker.formatted(Path(home), program, folder, more)
        broker.start()
        try:
            yield broker
        finally:
            broker.kill()


@dataclass
class Broker:
    """home: a folder of its own, with its log. port, controller: that were free."""

    home: Path
    program: str
    jars: Path
    port: int
    controller: int
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @classmethod
    def formatted(
        cls, home: Path, program: str, folder: Path, more: Settings | None = None
    ) -> Broker:
        broker = cls(home, program, folder, free_port(), free_port())
        settings = home / "server.properties"
        own = SETTINGS.format(home=home, port=broker.port, controller=broker.controller)
        settings.write_text(
            own + ("" if more is None else more(home, broker.port, broker.controller))
        )
        format_ = ["kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qk"]
        done = _run(program, [folder], [*format_, "-c", str(settings)])
        assert not done.returncode, done.stdout.decode(errors="replace")
        return broker

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Until it answers."""
        arguments = ["kafka.Kafka", str(self.home / "server.properties")]
        classes = _classes([self.jars])
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.program, MEMORY, "-XX:TieredStopAtLevel=1", "-cp", classes, *arguments],
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > until:
                raise OSError(f"the broker did not start: {self._last_words()}")
            time.sleep(0.1)

    def stop(self) -> None:
        """As an operator stops it."""
        self._signalled(signal.SIGTERM)

    def kill(self) -> None:
        """What a lost power supply does."""
        self._signalled(signal.SIGKILL)

    @contextmanager
    def restarting(self, at: int) -> Iterator[Callable[[Any], None]]:
        """Killed after a batch, and started again while the run goes on."""
        again = threading.Thread(target=self.start)

        def on_batch(batch: Any) -> None:
            if batch.number == at:
                self.kill()
                again.start()

        yield on_batch
        again.join()

    def _signalled(self, number: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(60)
            self.process = None

    def _answers(self) -> bool:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        quiet = {"bootstrap.servers": self.address, "log_level": 0}
        try:
            return bool(AdminClient(quiet).list_topics(timeout=1).brokers)
        except KafkaException:
            return False

    def _last_words(self) -> str:
        return "\n".join((self.home / "log").read_text(errors="replace").splitlines()[-5:])

    # What is done with it.

    def topic(self, name: str, partitions: int = 1, **settings: str) -> str:
        from confluent_kafka import KafkaError, KafkaException
        from confluent_kafka.admin import NewTopic

        wanted = NewTopic(name, partitions, 1, config=settings)
        until = time.monotonic() + 30
        while True:
            try:
                self.admin.create_topics([wanted])[name].result(30)
                return self._described(name)
            except KafkaException as failure:  # a broker that had no time for a while is fenced
                fenced = failure.args[0].code() == KafkaError.INVALID_REPLICATION_FACTOR
                if not fenced or time.monotonic() > until:
                    raise
            time.sleep(0.2)

    def _described(self, topic: str) -> str:
        """The topic, once the broker knows of it."""
        from confluent_kafka import KafkaException, TopicCollection

        until = time.monotonic() + 30
        while True:
            try:
                self.admin.describe_topics(TopicCollection([topic]))[topic].result(30)
                return topic
            except KafkaException:
                if time.monotonic() > until:
                    raise
            time.sleep(0.1)

    def delete(self, topic: str) -> None:
        """Until nobody sees it any more."""
        self.admin.delete_topics([topic])[topic].result(30)
        until = time.monotonic() + 30
        while topic in self.admin.list_topics(timeout=30).topics and time.monotonic() < until:
            time.sleep(0.1)

    def grow(self, topic: str, partitions: int) -> None:
        from confluent_kafka.admin import NewPartitions

        self.admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(30)

    def forget(self, topic: str, before: int, partition: int = 0) -> None:
        """Delete the records before an offset, as retention does."""
        from confluent_kafka import TopicPartition

        where = TopicPartition(topic, partition, before)
        self.admin.delete_records([where])[where].result(30)

    def send(self, topic: str, *records: Any, partition: int = 0, **fields: Any) -> None:
        """Values, each text, bytes or None. fields: key, headers, timestamp, of all."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.address, "linger.ms": 5})
        for value in records:
            while True:
                try:
                    producer.produce(topic, value, partition=partition, **fields)
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(30) == 0

    def ends(self, topic: str) -> int:
        """How many records it has had, over all partitions. A new topic may have no leader yet."""
        from confluent_kafka import KafkaException

        until = time.monotonic() + START_SECONDS
        while True:
            try:
                return self._ends(topic)
            except KafkaException:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def _ends(self, topic: str) -> int:
        from confluent_kafka import TopicPartition
        from confluent_kafka.admin import OffsetSpec

        parts = self.admin.list_topics(topic, timeout=30).topics[topic].partitions
        latest = {TopicPartition(topic, part): OffsetSpec.latest() for part in parts}
        return sum(end.result(30).offset for end in self.admin.list_offsets(latest).values())

    @cached_property
    def admin(self) -> Any:
        from confluent_kafka.admin import AdminClient

        return AdminClient({"bootstrap.servers": self.address, "log_level": 0})

    def read(self, topic: str) -> list[Any]:
        """All committed records, partition by partition."""
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer(
            {
                "bootstrap.servers": self.address,
                "group.id": "tests",
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
            }
        )
        found, parts = [], consumer.list_topics(topic, timeout=30).topics[topic].partitions
        for part in sorted(parts):
            consumer.assign([TopicPartition(topic, part, 0)])
            while (record := consumer.poll(30)) is not None and record.error() is None:
                found.append(record)
        consumer.close()
        return found
