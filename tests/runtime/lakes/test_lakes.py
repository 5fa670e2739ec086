"""Tables of a lake hold the last revision of each result, whatever is written again."""

from __future__ import annotations

import random
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sqlwin.errors import QueryError, RunError
from sqlwin.runtime.lakes.open import lake_sink
from tests.runtime.lakes.conftest import LakeTable
from tests.support.runtime.changes import drawn, frame


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"unique": "k"}], ids=["row_key", "key"])
def test_batches_that_are_cut_otherwise_when_they_are_written_again(
    lake: LakeTable, options: dict[str, str]
) -> None:
    rng, table = random.Random(5), dict[str, int]()
    sink = lake.sink(**options)
    sink.write(1, frame(*drawn(rng, table)))
    for batch in range(2, 9):
        for _ in range(rng.choice([0, 0, 1, 2])):  # what a crash leaves behind
            sink.write(batch, frame(*drawn(rng, dict(table))))
            sink = lake.sink(**options)
        sink.write(batch, frame(*drawn(rng, table)))
        assert lake.found() == table


def test_a_batch_that_is_written_again_by_the_same_sink(lake: LakeTable) -> None:
    sink = lake.sink()
    sink.write(1, frame(("+I", "a", 1)))
    sink.write(2, frame(("+U", "a", 2), ("+I", "b", 1)))
    sink.write(2, frame())
    assert lake.found() == {"a": 1}


def test_a_key_of_several_columns(lake: LakeTable) -> None:
    """Rows that share a value of each column with changes, but not all, stay."""
    sink = lake.sink(unique="k, day")
    days = [datetime(2024, 1, day, tzinfo=timezone.utc) for day in (1, 2)]

    def changes(*of: tuple[str, str, int, int]) -> pl.DataFrame:
        given = frame(*((op, k, n) for op, k, _, n in of))
        named = [f'["{k}",{day}]' for _, k, day, _ in of]
        stamps = pl.Series("day", [days[day] for *_, day, _ in of], pl.Datetime("us", "UTC"))
        return given.with_columns(stamps, row_key=pl.Series(named))

    sink.write(1, changes(*(("+I", k, day, 1) for k in "ab" for day in (0, 1))))
    sink.write(2, changes(("+U", "a", 0, 2), ("-D", "b", 1, 1)))
    rows = lake.rows().select("k", "day", "n").sort("k", "day").rows()
    assert rows == [("a", days[0], 2), ("a", days[1], 1), ("b", days[0], 1)]


def test_what_others_added_stays(lake: LakeTable) -> None:
    """A column of theirs, and a row."""
    schema = pl.Schema({"k": pl.String, "note": pl.String, "n": pl.Int32})
    lake.lake().create(schema)
    lake.lake().opened().append(
        _tag(), pl.DataFrame([("mine", "old", 0)], schema, orient="row"), None
    )
    sink = lake.sink(unique="k", create="no")
    sink.write(1, frame(("+I", "a", 1), ("+I", "b", 1)))
    noted = pl.DataFrame([("a", "big", 1)], schema, orient="row")
    _note(lake, noted)
    sink.write(2, frame(("+U", "a", 2), ("-D", "b", 1)))
    mine = ("mine", "old", 0)
    assert sorted(lake.rows().rows()) == [("a", "big", 2), mine]
    again = lake.sink(unique="k")
    again.write(2, frame(("-D", "a", 1)))
    assert sorted(lake.rows().rows()) == [("b", None, 1), mine]
    again = lake.sink(unique="k")
    again.write(2, frame(("+U", "a", 5)))
    assert sorted(lake.rows().rows()) == [("a", "big", 5), ("b", None, 1), mine]


def _tag() -> Any:
    from sqlwin.runtime.lakes.lake import Tag

    return Tag(9, 1)


def _note(lake: LakeTable, rows: pl.DataFrame) -> None:
    from sqlwin.runtime.lakes.lake import WHOLE, Changes
    from sqlwin.runtime.tables.results import DELETED

    marked = rows.with_columns(pl.lit(False).alias(DELETED), pl.lit(True).alias(WHOLE))
    lake.lake().opened().merge(_tag(), Changes(marked, ("k",), tuple(rows.columns)))


def test_another_run_is_refused_or_replaces(lake: LakeTable) -> None:
    first = lake.sink()
    first.write(1, frame(("+I", "a", 1)))
    first.write(2, frame(("+I", "b", 1)))
    with pytest.raises(
        QueryError, match=r"has batch 2 of another run; this one is at batch 1"
    ) as error:
        lake.sink().write(1, frame(("+I", "c", 1)))
    assert "restart = 'replace'" in str(error.value)
    anew = lake.sink(restart="replace")
    anew.write(1, frame(("+I", "c", 1)))
    assert lake.found() == {"c": 1}
    lake.sink(restart="replace").write(1, frame(("+I", "d", 1)))
    assert lake.found() == {"d": 1}


def test_two_writers_into_one_table(lake: LakeTable) -> None:
    one, two = lake.sink(unique="k"), lake.sink(writer=2, unique="k")
    one.write(1, frame(("+I", "a", 1)))
    two.write(1, frame(("+I", "b", 1)))
    one.write(2, frame(("+U", "a", 2)))
    two.write(2, frame(("+U", "b", 2)))
    lake.sink(unique="k").write(2, frame(("+U", "a", 3)))
    assert lake.found() == {"a": 3, "b": 2}


def test_rows_that_are_only_added(lake: LakeTable) -> None:
    def rows(*values: int) -> pl.DataFrame:
        return pl.DataFrame({"n": values}, schema={"n": pl.Int64})

    sink = lake.sink(appends=True)
    sink.write(1, rows(1, 1, 2))
    lake.sink(writer=2, appends=True).write(2, rows(30))
    sink.write(2, rows(3))
    lake.sink(appends=True).write(2, rows(3, 4))
    assert sorted(lake.rows()["n"]) == [1, 1, 2, 3, 4, 30]
    lake.sink(appends=True).write(2, rows())
    assert sorted(lake.rows()["n"]) == [1, 1, 2, 30]


def test_values_of_each_type(lake: LakeTable) -> None:
    moment = datetime(2024, 1, 1, 9, 0, 0, 123456, tzinfo=timezone.utc)
    values: dict[str, tuple[Any, Any]] = {
        "i": (-7, pl.Int8),
        "b": (True, pl.Boolean),
        "x": (b"\x00'", pl.Binary),
        "d": (moment.date(), pl.Date),
        "ts": (moment, pl.Datetime("us", "UTC")),
        "m": (Decimal("1.50"), pl.Decimal(20, 2)),
        "l": ([1, None], pl.List(pl.Int32)),
        "s": ({"a": 1, "b": "x"}, pl.Struct({"a": pl.Int32, "b": pl.String})),
        "none": (None, pl.Float64),
    }
    given = frame(("+I", "a", 1)).with_columns(
        pl.Series(name, [value], dtype) for name, (value, dtype) in values.items()
    )
    lake.sink(unique="k").write(1, given)
    lake.sink(unique="k").write(1, given)
    (row,) = lake.rows().select(list(values)).rows()
    assert row == tuple(value for value, _ in values.values())


def test_a_table_that_is_missing_or_lacks_a_column(lake: LakeTable) -> None:
    with pytest.raises(QueryError, match="there is no table"):
        lake.sink(create="no").write(1, frame(("+I", "a", 1)))
    lake.lake().create(pl.Schema({"k": pl.String}))
    with pytest.raises(QueryError, match='has no column "n"'):
        lake.sink(unique="k").write(1, frame(("+I", "a", 1)))


def test_a_package_that_is_missing(lake: LakeTable, monkeypatch: pytest.MonkeyPatch) -> None:
    package = {"delta": "deltalake", "iceberg": "pyiceberg.catalog"}[lake.kind]
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(RunError, match=rf"pip install 'sqlwin\[{lake.kind}\]'"):
        lake.sink().write(1, frame(("+I", "a", 1)))


def test_a_place_that_cannot_be_written(lake: LakeTable) -> None:
    (lake.base / "file").touch()
    options = {
        "delta": {"path": "file/t"},
        "iceberg": {"uri": f"sqlite:///{lake.base}/file/catalog.db", "wait": "0 seconds"},
    }
    with pytest.raises(
        RunError, match=r"cannot write to the table .*t of sink s: .+ the last commit"
    ):
        lake.sink(**options[lake.kind]).write(1, frame(("+I", "a", 1)))


def test_a_catalog_that_is_not_configured(tmp_path: Path) -> None:
    sink = lake_sink("s", {"connector": "iceberg", "table": "shop.t"}, tmp_path, 1, False)
    with pytest.raises(RunError, match=r"cannot write to the table shop.t of sink s: .*URI"):
        sink.write(1, frame(("+I", "a", 1)))


def test_rows_are_added_once_though_the_answer_of_a_commit_was_lost(
    lake: LakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = lake.sink(appends=True)
    sink.write(1, pl.DataFrame({"n": [1]}))
    table = type(lake.lake().opened())
    append, answers = table.append, iter([False])

    def lost(*given: Any) -> None:
        append(*given)
        if not next(answers, True):
            raise OSError("the answer was lost")

    monkeypatch.setattr(table, "append", lost)
    monkeypatch.setattr(
        type(lake.lake()), "passes", lambda _, failure: isinstance(failure, OSError)
    )
    sink.write(2, pl.DataFrame({"n": [2]}))
    assert sorted(lake.rows()["n"]) == [1, 2]
