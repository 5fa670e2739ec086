"""The generated rows are the same for a seed, and shaped as the documentation says."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from bench.data import (
    CLOSING_KEY,
    RATE,
    SHAPES,
    SHUFFLE_MS,
    Shape,
    closing,
    generated,
    paired,
    rows,
)

COUNT = 50_000


def _instants(frame: pl.DataFrame) -> pl.Series:
    return frame["ts"].to_physical()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_same_seed_same_rows(shape: Shape) -> None:
    assert rows(shape, 0, COUNT, seed=1).equals(rows(shape, 0, COUNT, seed=1))
    assert not rows(shape, 0, COUNT, seed=1).equals(rows(shape, 0, COUNT, seed=2))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_parts_are_not_copies_of_each_other(shape: Shape) -> None:
    assert not rows(shape, 0, COUNT)["value"].equals(rows(shape, COUNT, COUNT)["value"])


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_no_row_is_late(shape: Shape) -> None:
    """Event times lie up to 5 seconds behind the greatest one before them, and no more."""
    instants = _instants(pl.concat([rows(shape, 0, COUNT), rows(shape, COUNT, COUNT)]))
    behind = instants.cum_max() - instants
    assert SHUFFLE_MS * 0.9 < behind.max() <= SHUFFLE_MS


def test_twenty_million_rows_are_twenty_minutes() -> None:
    assert round(20_000_000 / RATE) == 20 * 60
    instants = _instants(rows(SHAPES["zipf"], 0, COUNT))
    assert instants.max() - instants.min() == pytest.approx(COUNT / RATE * 1_000, abs=SHUFFLE_MS)


def test_uniform_keys() -> None:
    counts = rows(SHAPES["uniform"], 0, 1_000_000)["key"].value_counts()
    assert len(counts) > 99_000
    assert counts["count"].max() < 40
    assert counts["key"].min() >= 1
    assert counts["key"].max() <= 100_000


def test_zipf_keys() -> None:
    """The n-th key is 1/n as frequent as the first."""
    counts = dict(rows(SHAPES["zipf"], 0, 1_000_000)["key"].value_counts().iter_rows())
    assert set(counts) == set(range(1, 1_001))
    for n in (2, 5, 20):
        assert counts[1] / counts[n] == pytest.approx(n, rel=0.1)


def test_files(tmp_path: Path) -> None:
    data = generated("zipf", 2_500, tmp_path, file_rows=1_000)
    assert [path.name for path in data.files] == [f"part-{n:05d}.csv" for n in range(3)]
    ages = [path.stat().st_mtime for path in data.files]
    assert ages == sorted(set(ages)), "Spark takes files by their age"
    frames = [pl.read_csv(path, try_parse_dates=True) for path in data.files]
    assert [len(frame) for frame in frames] == [1_000, 1_000, 501]
    again = generated("zipf", 2_500, tmp_path, file_rows=1_000)
    assert again == data
    assert ages == [path.stat().st_mtime for path in again.files], "made once"


def test_the_closing_row_comes_last_and_closes_every_window(tmp_path: Path) -> None:
    made = closing(COUNT)
    last = _instants(rows(SHAPES["zipf"], 0, COUNT)).max()
    assert made["key"].to_list() == [CLOSING_KEY]
    assert _instants(made)[0] - last > 3_000_000


def test_two_streams_have_half_the_rows_each_and_are_not_copies(tmp_path: Path) -> None:
    data = paired("uniform", 4_000, tmp_path, file_rows=2_000, rate=400.0)
    assert (data.rows, data.read, len(data.files)) == (2_000, 4_002, 2)
    one, other = (
        pl.concat(
            pl.read_csv(path, try_parse_dates=True) for path in sorted(Path(folder).glob("*.csv"))
        )
        for folder in data.folders
    )
    assert len(one) == len(other) == 2_001
    assert not one["key"].equals(other["key"])
    assert one["ts"][-1] == other["ts"][-1], "what closes them comes at one time"
    assert (one["ts"][-2] - one["ts"][0]).total_seconds() == pytest.approx(10, abs=5)
