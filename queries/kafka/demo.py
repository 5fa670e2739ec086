"""The demo: flights land in a topic, `sqlwin run` keeps two tables true, and is killed twice.

1. A broker and a PostgreSQL are started on loopback ports, in a folder that is gone at the end.
2. A producer sends the flights in the order of landing. `sqlwin run --follow` reads them.
3. At two moments that are drawn, the run is killed (SIGKILL); it is started again from its
   checkpoint some seconds later. Flights go on landing.
4. When all have landed the run is stopped (SIGTERM). One without --follow reads what is left.
5. Each table is compared with DuckDB's answer over the files.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from queries.kafka.processes import Process, Run, started
from queries.kafka.tables import (
    TABLES,
    Kept,
    Row,
    beside,
    counts,
    differences,
    in_batch,
    in_postgres,
)
from tools.servers import kafka, postgres

if TYPE_CHECKING:
    from tools.servers.kafka import Broker

DATA = Path(__file__).parents[1] / "data" / "flights"
TOPIC, PARTITIONS = "flights", 3
KILLS = ((0.15, 0.45), (0.55, 0.85))
"""Between which shares of the flights the run is killed."""
DOWN_SECONDS = 3.0
"""How long it may be gone, at most."""
TELL_SECONDS = 5.0
POLL_SECONDS = 0.1
UP_SECONDS = 60.0
"""How long a run may take to its first batch, once nothing lands any more."""
ENDS_SECONDS = 120.0
SHOWN = 4


@dataclass(frozen=True)
class Options:
    """files: how many, from the first; of four days each. seconds: in which all land."""

    files: int = 8
    seconds: float = 60.0
    engine: str = "embedded"
    seed: int = 0


class Demo:
    """console: where it says what it is doing, with the seconds since it began."""

    def __init__(self, options: Options, console: Console) -> None:
        self.options, self.console = options, console
        self.random, self.began = random.Random(options.seed), time.monotonic()

    def say(self, text: str) -> None:
        self.console.print(f"[{time.monotonic() - self.began:5.1f} s] {text}", markup=False)

    def run(self) -> bool:
        """Whether both tables equal the batch answer. Unavailable where a server cannot be had."""
        with ExitStack() as stack:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            (home / "landed").mkdir()
            for file in sorted(DATA.glob("*.jsonl"))[: self.options.files]:
                shutil.copy(file, home / "landed")
            self.say("starting PostgreSQL")
            server = stack.enter_context(postgres.running())
            if not (kafka.CACHE / "complete").exists():
                self.say(f"resolving the jars of {kafka.PACKAGE} by Maven, the first time only")
            self.say("starting a Kafka broker")
            broker = stack.enter_context(kafka.running())
            broker.topic(TOPIC, PARTITIONS)
            self.say(f"broker at {broker.address}, {server.url}; files in {home}")
            self._stream(home, broker, server.url)
            equal = [self._equal(home, server.url, table) for table in TABLES]  # both are shown
            return all(equal)

    def _stream(self, home: Path, broker: Broker, url: str) -> None:
        run = Run(home, self.options.engine, broker.address, url)
        files = sorted(map(str, (home / "landed").iterdir()))
        total = sum(len(Path(file).read_bytes().splitlines()) for file in files)
        seconds = self.options.seconds
        self.say(f"{total:,} flights land in the topic {TOPIC}, within {seconds:.0f} s")
        given = (broker.address, TOPIC, str(seconds), *files)
        log = home / "producer.log"
        with started("the producer", "queries.kafka.landing", *given, log=log) as producer:
            for share in self._moments():
                with run.started("--follow") as process:
                    self.say(f"sqlwin run --engine {run.engine} --follow --checkpoint: started")
                    self._watch(broker, process, producer, url, round(share * total))
                    process.kill()
                    landed = broker.ends(TOPIC)
                self.say(f"KILLED (kill -9), with {landed:,} of {total:,} flights in the topic")
                time.sleep(self.random.uniform(0, DOWN_SECONDS))
            with run.started("--follow") as process:
                self.say("started again, goes on from its checkpoint")
                self._watch(broker, process, producer, url, total)
                producer.wait(ENDS_SECONDS)
                self.say("all flights have landed; the run is stopped (SIGTERM)")
                process.stop(ENDS_SECONDS)
        with run.started() as process:
            self.say("started again without --follow: it reads what is left, and ends")
            process.wait(ENDS_SECONDS)

    def _moments(self) -> Iterator[float]:
        return (self.random.uniform(*between) for between in KILLS)

    def _watch(
        self, broker: Broker, process: Process, producer: Process, url: str, until: int
    ) -> None:
        """Until so many flights have landed, and the run has done a batch, if any is left to do."""
        next_, patience = time.monotonic() + TELL_SECONDS, UP_SECONDS
        while (landed := broker.ends(TOPIC)) < until or (not process.batches() and patience > 0):
            patience -= POLL_SECONDS if landed >= until else 0.0
            process.check()
            producer.check()
            if time.monotonic() > next_:
                next_ += TELL_SECONDS
                rows = ", ".join(f"{n:,} of {name}" for name, n in counts(url).items())
                self.say(f"{landed:,} flights have landed; rows: {rows or 'none yet'}")
            time.sleep(POLL_SECONDS)
        time.sleep(self.random.uniform(0, 0.5))

    def _equal(self, home: Path, url: str, table: Kept) -> bool:
        found = in_postgres(url, table)
        expected = in_batch(str(home / "landed" / "*.jsonl"), table)
        return self.compare(table, found, expected)

    def compare(self, table: Kept, found: list[Row], expected: list[Row]) -> bool:
        wrong = differences(found, expected, table.keys)
        some = wrong or list(zip(found, expected, strict=True))[:: max(1, len(found) // SHOWN)]
        title = f"{table.name}: PostgreSQL's table, and DuckDB's batch answer over the files"
        self.console.print(beside(table, some[:SHOWN], title))
        if wrong:
            self.say(f"{table.name}: DIFFERENT: {len(wrong):,} of {len(expected):,} rows")
        else:
            self.say(f"{table.name}: equal: {len(expected):,} rows")
        return not wrong
