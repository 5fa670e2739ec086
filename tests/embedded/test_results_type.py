"""What results are to libraries, to code that expects Arrow, and to a notebook."""

from __future__ import annotations

import pickle

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pandas.api.interchange import from_dataframe

import sqlwin
from sqlwin.runtime.rows.html import MOST_LETTERS, MOST_ROWS
from sqlwin.runtime.rows.results import PlanText, Results

SQL = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
SELECT product, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end EMIT LATE ON UPDATE RETAIN 1 HOUR"""
ROWS = [
    {"product": "<tea>", "value": 1, "ts": "2024-01-01T09:00:10Z"},
    {"product": None, "value": None, "ts": "2024-01-01T09:00:20Z"},
    {"product": "milk", "value": "many", "ts": "2024-01-01T09:00:30Z"},
    {"product": "tea", "value": 2, "ts": "2024-01-01T09:01:10Z"},
]


@pytest.fixture
def query() -> sqlwin.embedded.query.EmbeddedQuery:
    made = sqlwin.query(SQL)
    made.push("orders", ROWS)
    return made


def test_they_convert_and_are_read_by_the_capsule_interface(query) -> None:
    results = query.results()
    assert isinstance(results.arrow(), pa.Table)
    assert results.pl()["total"].to_list() == [None, 1]
    assert results.df()["product"].tolist() == [None, "<tea>"]
    assert pl.DataFrame(results).equals(results.pl())
    assert pl.from_arrow(results).equals(results.pl())
    assert duckdb.sql("SELECT SUM(total) FROM results").fetchall() == [(1,)]
    assert pa.table(results).equals(results.arrow())


def test_they_are_read_as_an_arrow_table_is(query) -> None:
    results = query.results(clear=False)
    assert results.num_rows == len(results) == 2
    assert results["total"].to_pylist() == results.column("total").to_pylist() == [None, 1]
    assert results.select(["total"]).to_pylist() == [{"total": None}, {"total": 1}]
    assert results[1:].num_rows == 1
    assert results == query.results() != query.results()
    assert results.equals(results.arrow())
    assert results == pickle.loads(pickle.dumps(results))
    assert not hasattr(results, "nothing")


def test_what_is_compiled_against_arrows_type_takes_the_table_itself(query, tmp_path) -> None:
    results = query.results()
    with pytest.raises(TypeError):
        pa.concat_tables([results])
    assert pa.concat_tables([results.arrow()]) == results.arrow()


def test_every_table_of_a_query_is_one(query) -> None:
    for rows in (query.results(), query.table(), query.expired(), query.windows()):
        assert type(rows) is Results
        assert isinstance(rows, pa.Table)
        assert rows.pl().shape == (rows.num_rows, rows.num_columns)


def test_arrays_and_frames_of_others_have_its_rows_and_columns() -> None:
    table = pa.table({"a": [1, 2, 3], "b": [4, 5, 6]})
    results = Results(table)
    assert np.asarray(results).tolist() == [[1, 4], [2, 5], [3, 6]]
    assert np.array(results, dtype="float32").dtype == np.float32
    assert from_dataframe(results.__dataframe__()).equals(table.to_pandas())
    assert {"pl", "df", "arrow", "to_pylist", "column_names", "num_rows"} <= set(dir(results))
    assert "_repr_html_" in dir(results)


def test_html_has_instants_beyond_datetime_and_names_that_are_there_twice() -> None:
    far = pa.array([10**18, -(10**18), None], pa.int64()).cast(pa.timestamp("us", "UTC"))
    page = Results(pa.table([far, pa.array([1, 2, 3])], names=["n", "n"]))._repr_html_()
    for text in ("+33658-09-27 01:46:40Z", "-29719-04-05 22:13:20Z", ">NULL<", ">3<"):
        assert text in page
    days = pa.array([3 * 10**6], pa.int32()).cast(pa.date32())
    assert "10183" in Results(pa.table({"d": days}))._repr_html_()
    within = pa.StructArray.from_arrays([far], ["at"])
    assert "out of range" in Results(pa.table({"s": within}))._repr_html_()


def test_a_name_that_is_there_twice_is_printed() -> None:
    assert "b" in repr(Results(pa.table([["a"], ["b"]], names=["n", "n"])))


def test_html_escapes_colours_and_says_null(query) -> None:
    page = query.results()._repr_html_()
    assert "&lt;tea&gt;" in page
    assert "<tea>" not in page
    assert page.count(">NULL</td>") == 2
    assert '<td style="color:#1a7f37;font-weight:bold">+I</td>' in page
    assert "<small>2 rows</small>" in page


def test_html_is_without_the_row_key_that_the_data_have(query) -> None:
    for rows in (query.results(), query.table()):
        assert "row_key" in rows.column_names
        assert "row_key" in rows.pl().columns
        page = rows._repr_html_()
        assert "row_key" not in page
        assert page.count("<th>") == rows.num_columns - 1
        assert f"{rows.num_rows} rows" in page


def test_html_is_bounded() -> None:
    rows = Results(pa.table({"text": ["x" * 10 * MOST_LETTERS] * (MOST_ROWS + 1)}))
    page = rows._repr_html_()
    assert page.count("<tr>") == MOST_ROWS + 1  # and the head
    assert f"{MOST_ROWS} of {MOST_ROWS + 1} rows" in page
    assert len(page) < MOST_ROWS * (MOST_LETTERS + 100)


def test_a_query_shows_its_streams_watermark_counts_and_plan(query) -> None:
    page = query._repr_html_()
    for part in (
        "product STRING, value BIGINT, ts TIMESTAMP",
        "2024-01-01 09:01:10Z",
        "not taken: malformed",
        "<b>Operator:</b> aggregator",
        "results that wait",
    ):
        assert part in page, part
    assert query.results().num_rows == 2  # showing changes nothing
    assert (query.streams, query.pushed("orders")) == (("orders",), 4)


def test_before_the_first_row_there_is_no_watermark() -> None:
    query = sqlwin.query(SQL)
    assert query.watermark("orders") is None
    assert ">NULL</td>" in query._repr_html_()


def test_a_plan_is_a_text_and_a_page(query) -> None:
    plan = query.explain()
    assert isinstance(plan, str)
    assert "<b>Retention:</b> 1 hour" in plan._repr_html_()
    assert isinstance(sqlwin.explain(SQL), PlanText)
    warned = PlanText("Warning: a < b")._repr_html_()
    assert "a &lt; b" in warned
    assert "color" in warned
