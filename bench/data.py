"""Generated rows: the same for a seed, on any machine, whatever was made before.

Row i arrives at i / rate seconds and happened up to 5 seconds earlier, so event
times are shuffled by up to 5 seconds and no row lies behind a watermark with that
delay. The last row of all, of key 0, comes an hour later and closes what is open:
Spark's own windows close by the watermark alone.

>>> made = rows(SHAPES["zipf"], first=0, count=3)
>>> made.columns, made["ts"].dtype
(['key', 'value', 'ts'], Datetime(time_unit='ms', time_zone='UTC'))
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

RATE = 50_000 / 3
"""Rows a second of event time: 20 M rows are 20 minutes, and a minute is 1 M rows."""
SHUFFLE_MS = 5_000
SEED = 20_240_101
CLOSING_KEY = 0
HOUR_MS = 3_600_000
FILE_ROWS = 500_000
START_MS = 1_704_067_200_000  # 2024-01-01T00:00:00Z
VERSION = 1


@dataclass(frozen=True)
class Shape:
    """How keys are spread: numbers from 1 to `keys`, as often as 1/n with `zipf`, else evenly."""

    name: str
    keys: int
    zipf: bool


SHAPES = {
    shape.name: shape
    for shape in (Shape("zipf", 1_000, zipf=True), Shape("uniform", 100_000, zipf=False))
}


@dataclass(frozen=True)
class Data:
    """A folder of CSV files in the order of their names. rows: without the closing one.

    other: the folder of a second stream, with as many rows in as many files; empty: there is none.
    """

    shape: str
    rows: int
    file_rows: int
    rate: float
    seed: int
    folder: str
    other: str = ""

    @property
    def folders(self) -> list[str]:
        return [self.folder, *([self.other] if self.other else [])]

    @property
    def read(self) -> int:
        """Rows that a run reads: of all streams, with the rows that close them."""
        return (self.rows + 1) * len(self.folders)

    @property
    def files(self) -> list[Path]:
        return sorted(Path(self.folder).glob("*.csv"))

    @property
    def file_bytes(self) -> int:
        """Of the largest file of a stream; all but the last are about equal."""
        return max(path.stat().st_size for path in self.files)


def generated(
    shape: str,
    count: int,
    root: Path,
    file_rows: int = FILE_ROWS,
    rate: float = RATE,
    seed: int = SEED,
) -> Data:
    """The data of a shape under `root`, made if they are not there yet."""
    folder = root.resolve() / f"{shape}-{count}-{file_rows}-{rate:.0f}-{seed}-v{VERSION}"
    data = Data(shape, count, file_rows, rate, seed, str(folder))
    if not (folder / "_made.json").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _write(data)
        (folder / "_made.json").write_text(json.dumps(asdict(data)), encoding="utf-8")
    return data


def paired(
    shape: str, count: int, root: Path, file_rows: int = FILE_ROWS, rate: float = RATE
) -> Data:
    """Two streams of half the rows each, at half the rate: together they are as one stream is."""
    one, other = (
        generated(shape, count // 2, root, file_rows // 2, rate / 2, seed)
        for seed in (SEED, SEED + 1)
    )
    return replace(one, other=other.folder)


def rows(
    shape: Shape, first: int, count: int, rate: float = RATE, seed: int = SEED
) -> pl.DataFrame:
    """Rows first <= i < first + count; `first` names them, so cut alike they are alike."""
    draw = np.random.default_rng([seed, shape.keys, int(shape.zipf), first])
    arrival = START_MS + SHUFFLE_MS + (np.arange(first, first + count) * 1_000 / rate)
    ts = arrival.astype(np.int64) - draw.integers(0, SHUFFLE_MS, count)
    return pl.DataFrame(
        {
            "key": _keys(shape, draw, count),
            "value": draw.integers(1, 1_001, count),
            "ts": pl.Series(ts).cast(pl.Datetime("ms", "UTC")),
        }
    )


def closing(count: int, rate: float = RATE) -> pl.DataFrame:
    """The row that closes what the rows before it left open."""
    ts = START_MS + SHUFFLE_MS + int(count * 1_000 / rate) + HOUR_MS
    row = pl.DataFrame({"key": [CLOSING_KEY], "value": [0], "ts": [ts]})
    return row.with_columns(pl.col("ts").cast(pl.Datetime("ms", "UTC")))


def _keys(shape: Shape, draw: np.random.Generator, count: int) -> npt.NDArray[np.int64]:
    if not shape.zipf:
        return draw.integers(1, shape.keys + 1, count)
    weights = 1 / np.arange(1, shape.keys + 1)
    upto = np.cumsum(weights / weights.sum())
    upto[-1] = 1.0
    return np.searchsorted(upto, draw.random(count), side="right").astype(np.int64) + 1


def _write(data: Data) -> None:
    starts = range(0, data.rows, data.file_rows)
    for number, first in enumerate(starts):
        count = min(data.file_rows, data.rows - first)
        made = rows(SHAPES[data.shape], first, count, data.rate, data.seed)
        if first + count == data.rows:
            made = pl.concat([made, closing(data.rows, data.rate)])
        path = Path(data.folder) / f"part-{number:05d}.csv"
        made.write_csv(path, datetime_format="%Y-%m-%dT%H:%M:%S%.3fZ")
        # Spark takes files by their age.
        os.utime(path, (START_MS / 1_000 + number, START_MS / 1_000 + number))
