"""The example queries over the whole slice of real data, on both engines, against DuckDB."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import duckdb
import polars as pl
import pytest

from sqlwin.embedded import run as embedded
from sqlwin.embedded.output_buffer import fold
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from tests.support.data.batch_answers import ANSWERS
from tests.support.queries.checking import Run, on_spark, same

QUERIES = Path(__file__).parents[2] / "queries"
FLIGHTS = QUERIES / "data/flights/*.jsonl"
FLIGHTS_ROWS, NEVER_LEFT = 27_004, 521
OTHER_ROWS = {"weather_delays": 2_226 + 2_609}  # weather and aircraft


DEMO = "departures_per_hour"


def _cases() -> Iterator[object]:
    """On Spark the demo's query, the others with the long tests."""
    for name in sorted(ANSWERS):
        yield pytest.param(embedded.run, name, id=f"embedded-{name}")
        marks = [pytest.mark.spark, *([] if name == DEMO else [pytest.mark.long])]
        yield pytest.param(on_spark, name, id=f"spark-{name}", marks=marks)


@pytest.mark.parametrize(("run", "name"), list(_cases()))
def test_the_last_revisions_are_the_batch_answer(run: Run, name: str) -> None:
    check(run, name, QUERIES)


def test_late_weather_corrects_departures(tmp_path: Path) -> None:
    """The morning's readings of each file's last day come with the next file, when departures of
    that morning have been emitted with what there was."""
    shutil.copytree(QUERIES / "data", tmp_path / "data")
    late: list[str] = []
    for file in sorted((tmp_path / "data" / "weather").iterdir()):
        day = date.fromisoformat(file.stem) + timedelta(days=3)
        held = {f"{day}T{hour}:00:00Z" for hour in range(11, 15)}
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        in_time = [row for row in lines if json.loads(row)["ts"] not in held]
        file.write_text("".join(late + in_time), encoding="utf-8")
        late = [row for row in lines if json.loads(row)["ts"] in held]
    assert not late  # none in the last file, which has no next
    emitted = check(embedded.run, "weather_delays", tmp_path)
    corrected = emitted.filter(pl.col("op") == "+U")
    assert len(corrected) > 500
    assert corrected["flight_id"].n_unique() == len(corrected)


def check(run: Run, name: str, base: Path) -> pl.DataFrame:
    """The last revisions are the batch answer; what was emitted, all of it."""
    emitted: list[pl.DataFrame] = []
    refused: list[pl.DataFrame] = []
    parsed = script((QUERIES / f"{name}.sql").read_text(encoding="utf-8"))
    summary = run(parsed, RunOptions(base=base, show=emitted.append, on_errors=refused.append))
    emissions = pl.concat(emitted)
    last = fold(emissions).filter(pl.col("op") != "-D")
    expected = pl.from_arrow(ANSWERS[name](duckdb.connect(), str(FLIGHTS)))
    assert isinstance(expected, pl.DataFrame)
    assert same(last.select(expected.columns), expected)
    reasons = pl.concat(refused)["reason"].unique().to_list()
    assert reasons == ["no event time: dep_ts is NULL"]
    assert summary.refused == {"no event time": NEVER_LEFT}
    assert summary.read == FLIGHTS_ROWS + OTHER_ROWS.get(name, 0)
    return emissions
