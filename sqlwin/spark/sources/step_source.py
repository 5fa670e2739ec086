"""Steps as a source, for tests: each micro-batch reads exactly one, for many queries at once.

A step has, for each query it concerns, the rows, the processing time,
maybe a watermark, and whether the input ends. Steps are files in a folder, so a
replayed batch finds the same step.

>>> import tempfile
>>> steps = StepSource(tempfile.mkdtemp())
>>> steps.add({3: Step(now=10, watermark=5)})
1
>>> steps.count(), steps.step(1)[3].watermark, steps.step(1)[3].rows is None
(1, 5, True)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.files.atomic_files import replaced
from sqlwin.runtime.formats.presented import as_texts


@dataclass(frozen=True)
class Step:
    """rows: of any types, as they come; the first one's position is `first`.

    stream: whose they are; None: of the query's only one. watermark: raise the stream's
    to this.
    """

    now: int = 0
    rows: pl.DataFrame | None = None
    watermark: int | None = None
    end: bool = False
    first: int = 0
    stream: str | None = None


@dataclass(frozen=True)
class StepSource:
    folder: str

    def add(self, steps: Mapping[int, Step]) -> int:
        """Append a step, by number of the query; its number, from 1."""
        number = self.count() + 1
        Path(self.folder).mkdir(parents=True, exist_ok=True)
        saved = {str(query): self._stored(number, query, step) for query, step in steps.items()}
        with replaced(self._path(number), sync=False) as unfinished:
            unfinished.write_text(json.dumps(saved), encoding="utf-8")
        return number

    def count(self) -> int:
        return len(list(Path(self.folder).glob("step-*.json")))

    def queries(self, number: int) -> list[int]:
        return [int(query) for query in json.loads(self._path(number).read_text(encoding="utf-8"))]

    def step(self, number: int, only: frozenset[int] | None = None) -> dict[int, Step]:
        """A step, or the part of it that concerns the queries `only`."""
        saved = json.loads(self._path(number).read_text(encoding="utf-8"))
        return {
            int(query): self._loaded(step)
            for query, step in saved.items()
            if only is None or int(query) in only
        }

    def _path(self, number: int) -> Path:
        return Path(self.folder) / f"step-{number:06d}.json"

    def _stored(self, number: int, query: int, step: Step) -> dict[str, object]:
        name = None
        if step.rows is not None:
            name = f"rows-{number:06d}-{query}.arrow"
            _written(step.rows).write_ipc(Path(self.folder) / name)
        return {**vars(step), "rows": name}

    def _loaded(self, saved: dict[str, object]) -> Step:
        name = saved["rows"]
        path = Path(self.folder) / str(name)
        rows = None if name is None else pl.read_ipc(path)
        return Step(**{**saved, "rows": rows})  # type: ignore[arg-type]


def _written(rows: pl.DataFrame) -> pl.DataFrame:
    """Values of Python, such as dicts, as the texts that their columns are read from."""
    kept = (as_texts(each) if each.dtype == pl.Object else each for each in rows.get_columns())
    return pl.DataFrame(list(kept))
