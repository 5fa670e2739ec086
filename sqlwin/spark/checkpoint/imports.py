"""What an import leaves beside Spark's checkpoint.

    imported.json     how many batches there were before Spark's first, and whether it is done
    import/           while it runs: the offset that it ends at, and a file for each bucket

Spark numbers batches of a new checkpoint from 0. Sinks know them by numbers that go on, so those
of an import are added to Spark's. The first batch of Spark's puts the state into the buckets; as
an offset it has the number of the last batch before.

Invariant: a checkpoint without `imported.json`, or with one that is done, is whole.

>>> import tempfile
>>> folder = Folder(tempfile.mkdtemp())
>>> batches_before(folder)
0
>>> note(folder, 7, done=True)
>>> batches_before(folder)
6
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from sqlwin.errors import StateError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.sources.offsets import Offset
from sqlwin.spark.stages.row_kinds import STATE
from sqlwin.spark.stages.wire import Packed, packed_blob

IMPORTED, OFFSET, BUCKETS = "imported.json", "import/offset.json", "import"
NAME, DATA = "name", "data"


@dataclass(frozen=True)
class Importing:
    """path: of a bucket's file, called after its stage and label."""

    path: str


@dataclass(frozen=True)
class Imports:
    """What is to be imported, until it was."""

    folder: Folder

    def write(self, offset: Offset, buckets: Mapping[tuple[int, int], Mapping[str, bytes]]) -> None:
        """buckets: blobs by name, by number of the stage and label."""
        self.folder.write(OFFSET, json.dumps(offset.dump()))
        for (stage, label), blobs in buckets.items():
            frame = pl.DataFrame({NAME: list(blobs), DATA: list(blobs.values())})
            frame.write_ipc(self._home / f"{stage}-{label}.arrow")

    def offset(self) -> Offset:
        return Offset.load(self.folder.json(OFFSET))

    def buckets(self) -> list[str]:
        return sorted(map(str, self._home.glob("*.arrow")))

    def remove(self) -> None:
        shutil.rmtree(self._home, ignore_errors=True)

    @property
    def _home(self) -> Path:
        return Path(self.folder.path) / BUCKETS


def imported(importing: Importing) -> Iterator[Packed]:
    stage, label = map(int, Path(importing.path).stem.split("-"))
    for at, (name, data) in enumerate(pl.read_ipc(importing.path).iter_rows()):
        yield Packed(stage, label, STATE, at, packed_blob(name, data))


def note(folder: Folder, batch: int, done: bool) -> None:
    """batch: the last one before."""
    folder.write(IMPORTED, json.dumps({"batches": batch - 1, "done": done}))


def batches_before(folder: Folder) -> int:
    """What is added to the number of a batch of Spark's. StateError for a checkpoint whose import
    did not end."""
    found = folder.json(IMPORTED)
    if found is None:
        return 0
    if not found["done"]:
        raise StateError(
            f"the import into {Path(folder.path).parent} did not end: delete that folder, and "
            "import again"
        )
    return int(found["batches"])
