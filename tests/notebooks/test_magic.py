"""`%sqlwin` and `%%sqlwin`, in a shell of IPython without a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from sqlwin.runtime.rows.results import PlanText, Results

TOTALS = """SELECT product, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end"""
ROWS = {
    "product": ["tea", "tea", "milk"],
    "value": [1, 2, 4],
    "ts": pd.to_datetime(["2024-01-01T09:00:10", "2024-01-01T09:00:20", "2024-01-01T09:01:10"]),
}
FRAMES = {
    "pandas": pd.DataFrame(ROWS),
    "polars": pl.DataFrame(pd.DataFrame(ROWS)),
    "arrow": pa.Table.from_pandas(pd.DataFrame(ROWS)),
}


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    config = Config({"HistoryManager": {"enabled": False}})
    made = InteractiveShell(user_ns={}, config=config)
    made.run_line_magic("load_ext", "sqlwin")
    yield made
    made.reset()
    InteractiveShell.clear_instance()


def totals(results: Any) -> list[tuple[str, int]]:
    return [(row["product"], row["total"]) for row in results.to_pylist()]


@pytest.mark.parametrize("library", FRAMES)
def test_a_select_reads_the_dataframes_of_the_notebook(shell, library) -> None:
    shell.user_ns["orders"] = FRAMES[library]
    shown = shell.run_cell_magic("sqlwin", "found", TOTALS)
    assert totals(shown) == [("tea", 3), ("milk", 4)]
    assert shell.user_ns["found"] is shown
    assert "<table>" in shown._repr_html_()


def test_a_line_is_a_query(shell) -> None:
    shell.user_ns["orders"] = FRAMES["pandas"]
    shown = shell.run_line_magic("sqlwin", TOTALS.replace("\n", " "))
    assert totals(shown) == [("tea", 3), ("milk", 4)]


def test_options_say_batches_and_what_is_shown(shell) -> None:
    shell.user_ns["orders"] = FRAMES["polars"]
    shown = shell.run_cell_magic("sqlwin", "--batch 1 --changes --open", TOTALS)
    assert totals(shown) == [("tea", 3)]
    shown = shell.run_cell_magic("sqlwin", "--delay '1 hour' --changes --open", TOTALS)
    assert totals(shown) == []


def test_results_are_read_again(shell) -> None:
    shell.user_ns["orders"] = Results(FRAMES["arrow"])
    assert totals(shell.run_cell_magic("sqlwin", "", TOTALS)) == [("tea", 3), ("milk", 4)]


def test_a_dataframe_without_instants_is_a_static_table(shell) -> None:
    shell.user_ns["orders"] = FRAMES["pandas"]
    shell.user_ns["makers"] = pd.DataFrame({"product": ["tea"], "maker": ["Ann"]})
    text = "SELECT maker, value FROM orders JOIN makers USING (product)"
    shown = shell.run_cell_magic("sqlwin", "", text)
    assert [(row["maker"], row["value"]) for row in shown.to_pylist()] == [("Ann", 1), ("Ann", 2)]


def test_the_event_time_is_said_where_there_are_several(shell) -> None:
    shell.user_ns["orders"] = FRAMES["pandas"].assign(paid=ROWS["ts"])
    with pytest.raises(UsageError, match="instants in ts, paid: say --ts ts"):
        shell.run_cell_magic("sqlwin", "", TOTALS)
    assert totals(shell.run_cell_magic("sqlwin", "--ts ts", TOTALS))


def test_explain_shows_the_plan(shell) -> None:
    shell.user_ns["orders"] = FRAMES["pandas"]
    assert isinstance(shell.run_cell_magic("sqlwin", "", f"EXPLAIN {TOTALS}"), PlanText)
    alone = "EXPLAIN SELECT a FROM s"
    with pytest.raises(UsageError, match="no stream"):
        shell.run_cell_magic("sqlwin", "", alone)


@pytest.mark.parametrize("before", ["-- the plan\n", "/* the\n plan */ ", "\n  "])
def test_explain_may_stand_behind_a_comment(shell, before) -> None:
    shell.user_ns["orders"] = FRAMES["pandas"]
    assert isinstance(shell.run_cell_magic("sqlwin", "", f"{before}EXPLAIN {TOTALS}"), PlanText)
    shown = shell.run_cell_magic("sqlwin", "", f"-- no EXPLAIN\n{TOTALS}")
    assert totals(shown) == [("tea", 3), ("milk", 4)]


def own_sources(tmp_path: Path) -> str:
    rows = [{"product": "tea", "value": v, "ts": f"2024-01-01T09:00:{v:02}Z"} for v in (1, 2)]
    (tmp_path / "orders.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return f"""
        CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
        WITH (connector = 'files', path = '{tmp_path}/orders.jsonl', format = 'json');"""


def test_each_select_of_a_script_has_its_own_results(shell, tmp_path: Path) -> None:
    text = f"{own_sources(tmp_path)} {TOTALS}; {TOTALS.replace('SUM', '10 * SUM')};"
    assert totals(shell.run_cell_magic("sqlwin", "", text)) == [("tea", 3), ("tea", 30)]
    early = f"{TOTALS} EMIT EARLY EVERY 1 ROWS"
    other = "SELECT product, COUNT(*) AS n FROM orders GROUP BY product"
    shown = shell.run_cell_magic("sqlwin", "", f"{own_sources(tmp_path)} {early}; {other};")
    assert [(row["total"], row["n"]) for row in shown.to_pylist()] == [(3, None), (None, 2)]


def test_a_script_with_sources_takes_no_dataframe_that_it_does_not_read(shell, tmp_path) -> None:
    shell.user_ns |= dict.fromkeys(("total", "product", "window_start", "ts", "a"), FRAMES["arrow"])
    text = f"{own_sources(tmp_path)} WITH a AS (SELECT * FROM orders) {TOTALS}"
    assert totals(shell.run_cell_magic("sqlwin", "", text)) == [("tea", 3)]
    text = f"{own_sources(tmp_path)} EXPLAIN {TOTALS}"
    assert "tumbling 1 minute" in shell.run_cell_magic("sqlwin", "", text)


def test_a_script_reads_dataframes_or_its_own_sources(shell, tmp_path) -> None:
    shell.user_ns["makers"] = pd.DataFrame({"product": ["tea"], "maker": ["Ann"]})
    text = "SELECT maker, value FROM orders JOIN makers USING (product)"
    with pytest.raises(UsageError, match="makers is a DataFrame, and orders a source of the"):
        shell.run_cell_magic("sqlwin", "", f"{own_sources(tmp_path)} {text}")


@pytest.mark.parametrize(
    "call", ["DATA => TABLE orders, TIMECOL =>", "data => TABLE orders, timecol =>", "orders,"]
)
def test_a_dataframe_is_read_by_a_window_function(shell, call) -> None:
    shell.user_ns |= {"orders": FRAMES["pandas"], "ts": FRAMES["pandas"]}
    size = "SIZE => INTERVAL" if "=>" in call else "INTERVAL"
    text = TOTALS.replace("TABLE orders,", call).replace("INTERVAL", size)
    assert totals(shell.run_cell_magic("sqlwin", "", text)) == [("tea", 3), ("milk", 4)]


def test_a_dataframe_is_read_by_a_condition(shell) -> None:
    shell.user_ns["orders"] = FRAMES["pandas"]
    shell.user_ns["wanted"] = pd.DataFrame({"name": ["tea"]})
    text = "SELECT value FROM orders WHERE product IN (SELECT name FROM wanted)"
    shown = shell.run_cell_magic("sqlwin", "", text)
    assert [row["value"] for row in shown.to_pylist()] == [1, 2]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--batch -1", "--batch: -1 is no count of rows"),
        ("--batch 0", "--batch: 0 is no count of rows"),
        ("--batch many", "--batch: many is no count of rows"),
        ("--ts paid", "no DataFrame that is read has a column paid"),
        ("--delay 'soon", "No closing quotation"),
        ("--delay soon", "soon"),
    ],
)
def test_a_wrong_option_is_one_message(shell, line, message) -> None:
    shell.user_ns["orders"] = FRAMES["pandas"]
    with pytest.raises(UsageError, match=message):
        shell.run_cell_magic("sqlwin", line, TOTALS)


def test_a_script_has_its_own_sources(shell, tmp_path: Path) -> None:
    script = f"{own_sources(tmp_path)} {TOTALS} EMIT EARLY EVERY 1 ROWS"
    shell.user_ns["orders"] = FRAMES["pandas"]  # the script's own hides it
    assert totals(shell.run_cell_magic("sqlwin", "", script)) == [("tea", 3)]
    into = script.replace("SELECT", "INSERT INTO gone SELECT")
    into = f"CREATE SINK gone WITH (connector = 'none'); {into}"
    assert shell.run_cell_magic("sqlwin", "", into) is None


def test_a_mistake_is_one_message(shell) -> None:
    shell.user_ns["orders"] = FRAMES["pandas"]
    with pytest.raises(UsageError, match="unknown column price"):
        shell.run_cell_magic("sqlwin", "", TOTALS.replace("value", "price"))


def test_an_unknown_option_is_told_with_those_there_are(shell) -> None:
    with pytest.raises(UsageError, match=r"--later[\s\S]*usage: %%sqlwin .*--delay"):
        shell.run_cell_magic("sqlwin", "--later", TOTALS)
