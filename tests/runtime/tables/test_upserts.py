"""A table holds the last revision of each result, whatever is written again or fails."""

from __future__ import annotations

import random
import re
from contextlib import suppress
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from sqlwin.errors import QueryError, RunError
from tests.runtime.tables.conftest import Tables, found
from tests.support.runtime.changes import drawn, frame


@pytest.mark.parametrize("options", [{}, {"unique": "k"}], ids=["row_key", "key"])
def test_batches_that_are_cut_otherwise_when_they_are_written_again(
    tables: Tables, options: dict[str, str]
) -> None:
    rng, table = random.Random(5), dict[str, int]()
    sink = tables.sink(**options)
    for batch in range(1, 13):
        for _ in range(rng.choice([0, 0, 1, 2])):  # what a crash leaves behind
            sink.write(batch, frame(*drawn(rng, dict(table))))
            sink = tables.sink(**options)
        sink.write(batch, frame(*drawn(rng, table)))
        assert found(tables) == table


def test_a_batch_that_is_written_again_by_the_same_sink(tables: Tables) -> None:
    sink = tables.sink()
    sink.write(1, frame(("+I", "a", 1)))
    sink.write(2, frame(("+U", "a", 2), ("+I", "b", 1)))
    sink.write(2, frame())
    assert found(tables) == {"a": 1}


def test_a_batch_that_fails_changes_nothing(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = tables.sink()
    sink.write(1, frame(("+I", "a", 1), ("+I", "b", 2)))
    with monkeypatch.context() as patched, suppress(ZeroDivisionError):
        patched.setattr("sqlwin.runtime.tables.statements.Batches.record", lambda *_: 1 // 0)
        sink.write(2, frame(("-D", "a", 1), ("+U", "b", 3)))
    assert found(tables) == {"a": 1, "b": 2}
    tables.sink().write(2, frame(("+U", "b", 4)))
    assert found(tables) == {"a": 1, "b": 4}


def test_what_others_added_stays(tables: Tables) -> None:
    """A column of theirs, and a row."""
    tables.run("CREATE TABLE t (k VARCHAR(9) PRIMARY KEY, note VARCHAR(9), n BIGINT)")
    tables.run("INSERT INTO t VALUES ('mine', 'old', 0)")
    sink = tables.sink(unique="k", create="no")
    sink.write(1, frame(("+I", "a", 1), ("+I", "b", 1)))
    tables.run("UPDATE t SET note = 'big' WHERE k = 'a'")
    sink.write(2, frame(("+U", "a", 2), ("-D", "b", 1)))
    rows = [("a", "big", 2), ("mine", "old", 0)]
    assert sorted(tables.run("SELECT k, note, n FROM t")) == rows
    again = tables.sink(unique="k")
    again.write(2, frame(("-D", "a", 1)))
    assert sorted(tables.run("SELECT k, note, n FROM t")) == [("b", None, 1), rows[1]]
    again.write(3, frame(("-D", "b", 1)))
    tables.sink(unique="k").write(3, frame())
    assert sorted(tables.run("SELECT k, n FROM t")) == [("b", 1), ("mine", 0)]


def test_a_column_is_added_while_it_runs(tables: Tables) -> None:
    sink = tables.sink(unique="k")
    sink.write(1, frame(("+I", "a", 1)))
    tables.run("ALTER TABLE t ADD COLUMN note VARCHAR(9)")
    sink.write(2, frame(("+U", "a", 2)))
    sink.write(3, frame(("+U", "a", 3)))
    tables.sink(unique="k").write(3, frame())
    assert found(tables) == {"a": 2}


def test_one_result_takes_the_place_of_another(tables: Tables) -> None:
    """As sessions do that grow together: the key of the table is that of both."""
    sink = tables.sink(unique="k")
    first = frame(("+I", "a", 1))
    sink.write(1, first)
    grown = frame(("+I", "a", 2)).with_columns(row_key=pl.lit("[2]"))
    sink.write(2, pl.concat([grown, frame(("-D", "a", 1))]))
    assert found(tables) == {"a": 2}


def test_columns_of_other_names(tables: Tables) -> None:
    sink = tables.sink(columns='n = "to tal", revision = version', unique="k", table='"my t"')
    sink.write(1, frame(("+I", "a", 1)))
    assert tables.run('SELECT k, "to tal", version FROM "my t"') == [("a", 1, 0)]


def test_two_queries_into_one_table(tables: Tables) -> None:
    first, second = (tables.sink(writer=writer, unique="k") for writer in (1, 2))
    first.write(1, frame(("+I", "a", 1)))
    second.write(1, frame(("+I", "b", 1)))
    second.write(1, frame(("+I", "c", 1)))
    assert found(tables) == {"a": 1, "c": 1}
    for options, why in [({}, "may have rows"), ({"unique": "k", "restart": "replace"}, "each")]:
        with pytest.raises(QueryError, match=f"two queries write to sink s, and {why}"):
            tables.sink(writer=2, **options)


def test_types_of_a_table_that_is_made(tables: Tables) -> None:
    values: dict[str, tuple[Any, Any]] = {
        "i": (7, pl.Int32),
        "f": (0.1, pl.Float64),
        "b": (True, pl.Boolean),
        "t": ('a\t"\\N', pl.String),
        "x": (b"\x00\xff", pl.Binary),
        "d": (date(2024, 2, 29), pl.Date),
        "when": (datetime(2024, 1, 1, 9, tzinfo=timezone.utc), pl.Datetime("us", "UTC")),
        "p": (Decimal("1.50"), pl.Decimal(38, 2)),
        "l": ([1, None], pl.List(pl.Int64)),
        "null": (None, pl.Int64),
    }
    columns = [pl.Series(name, [value], dtype) for name, (value, dtype) in values.items()]
    tables.sink().write(1, pl.DataFrame(columns).hstack(frame(("+I", "a", 1)).drop("k", "n")))
    (row,) = tables.run("SELECT * FROM t")
    texts = {"d": "2024-02-29", "when": "2024-01-01T09:00:00Z", "p": "1.50", "l": "[1, null]"}
    expected = {name: value for name, (value, _) in values.items()}
    expected |= texts if tables.kind == "sqlite" else {}
    assert row == (*expected.values(), '["a"]')


def test_a_table_of_another_run(tables: Tables) -> None:
    earlier = tables.sink()
    for batch in (1, 2, 3):
        earlier.write(batch, frame(("+I", str(batch), batch)))
    refused = "the table t of sink s has batch 3 of another run; this one is at batch 1"
    with pytest.raises(QueryError, match=refused):
        tables.sink().write(1, frame(("+I", "a", 1)))
    assert found(tables) == {"1": 1, "2": 2, "3": 3}
    replacing = tables.sink(restart="replace")
    replacing.write(1, frame(("+I", "a", 1)))
    replacing.write(2, frame(("+I", "b", 1)))
    assert found(tables) == {"a": 1, "b": 1}


REFUSED = {
    "there is no table t": {"create": "false"},
    "renames m, which is no column": {"columns": "m = n"},
    "option unique of sink s names m, no column": {"unique": "m"},
    'unique = ("k") of sink s identifies no row: a': {"unique": "k"},
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(tables: Tables, message: str) -> None:
    rows = frame(("+I", "a", 1), ("+I", "a", 2)).with_columns(row_key=pl.Series(["[1]", "[2]"]))
    with pytest.raises(QueryError, match=re.escape(message)):
        tables.sink(**REFUSED[message]).write(1, rows)


def test_a_table_without_the_columns(tables: Tables) -> None:
    tables.run("CREATE TABLE t (k VARCHAR(9) PRIMARY KEY)")
    with pytest.raises(QueryError, match='the table t of sink s has no column "n"') as refusal:
        tables.sink(unique="k").write(1, frame(("+I", "a", 1)))
    assert refusal.value.legal == 'one of each: "k"'


def test_what_the_database_refuses(tables: Tables) -> None:
    """A table without a unique key, for one."""
    tables.run("CREATE TABLE t (k VARCHAR(9), n BIGINT)")
    with pytest.raises(RunError, match=r"cannot write to the table t .*; the last commit"):
        tables.sink(unique="k").write(1, frame(("+I", "a", 1)))
    assert found(tables) == {}
