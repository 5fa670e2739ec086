"""Partitions of topics as splits of a source.

A split is called `orders/2`. The `__part` of its rows is the number of the partition and, above
that, the number of its topic, in the order in which the topics of the stream were found, from 0: so
it is unlike that of any other split, and of a single topic it is the partition alone.

Beside the offset a checkpoint has of a split `0:id`: the topic's number, and its id, which is
another one when a topic is deleted and made anew. In checkpoints of before it has nothing: the
topic was the only one, and its id is not known.

>>> split = Partition.of("orders/2", "1:Xw")
>>> split, split.part, split.print
(Partition(topic='orders', number=2, at=1, id='Xw'), 65538, '1:Xw')
>>> Partition.of("orders/2", "").part
2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.files.ends import End
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.runtime.kafka.client import Found

BITS = 16
TOPICS = 1 << 31 - BITS
"""The most that a stream can have had."""
PASS_OVER = "'fail.on.data.loss' = 'false' passes over what is gone"


@dataclass(frozen=True)
class Partition:
    """at: the number of its topic. id: of the topic, "" where the broker tells none."""

    topic: str
    number: int
    at: int = 0
    id: str = ""

    @staticmethod
    def of(name: str, print: str) -> Partition:
        topic, _, number = name.rpartition("/")
        at, _, id_ = print.partition(":")
        return Partition(topic, int(number), int(at or 0), id_)

    @property
    def name(self) -> str:
        return f"{self.topic}/{self.number}"

    @property
    def print(self) -> str:
        return f"{self.at}:{self.id}"

    @property
    def part(self) -> int:
        return (self.at << BITS) + self.number

    @property
    def key(self) -> tuple[str, int]:
        """As the client knows it."""
        return self.topic, self.number


def partitions(known: Mapping[str, End], found: Mapping[str, Found]) -> list[Partition]:
    """Those of the topics that were found. known: ends of the splits of before, by name."""
    numbers: dict[str, int] = {}
    for split in before(known):
        numbers[split.topic] = split.at
    for topic in found:
        numbers.setdefault(topic, max(numbers.values(), default=-1) + 1)
    if max(numbers.values(), default=0) >= TOPICS:
        raise RunError(f"the topics of a stream are more than {TOPICS:,}")
    return [
        Partition(topic, number, numbers[topic], each.id)
        for topic, each in found.items()
        for number in each.partitions
    ]


def before(known: Mapping[str, End]) -> list[Partition]:
    """Splits of a checkpoint."""
    return [Partition.of(name, end.print) for name, end in known.items()]


def check_known(known: Mapping[str, End], there: Iterable[Partition], losses: bool) -> None:
    """RunError for a topic that is no longer what was read. losses: topics may go."""
    names, ids = {split.name for split in there}, {split.topic: split.id for split in there}
    for split in before(known):
        if split.id and ids.get(split.topic) and ids[split.topic] != split.id:
            raise RunError(
                f"topic {split.topic} was deleted and made anew since it was read: its offsets "
                f"are others; begin with a new checkpoint"
            )
        if split.name not in names and not losses:
            raise RunError(
                f"{split.name} is gone, and was read up to offset {known[split.name].hi}: what "
                f"came after may be lost; {PASS_OVER}"
            )


def places(progress: FileProgress) -> dict[int, str]:
    """What is called how in the error stream: each `__part`."""
    return {split.part: split.name for split in before(progress.known)}
