"""Names of result columns: those that each result has are no names for others."""

import pyarrow as pa
import pytest

import sqlwin
from sqlwin.sql import script
from tests.support.sql.cases import mistake, underlined

STREAM = """CREATE STREAM a (id BIGINT, k STRING, op STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts);
"""


def test_a_sink_cannot_declare_one_either() -> None:
    error = mistake("CREATE SINK s (id BIGINT, Op STRING) WITH (connector = 'none')")
    assert error.message == "each result has a column op of its own"
    assert (underlined(error), error.legal) == ("Op", "any other name")


@pytest.mark.parametrize(
    "query",
    [
        "WITH v AS (SELECT k AS op, op AS emit FROM a) SELECT op AS o, emit AS e FROM v",
        "SELECT * EXCEPT (op) FROM a",
        "CREATE SINK s (o STRING) WITH (connector = 'none'); INSERT INTO s SELECT op AS o FROM a",
    ],
)
def test_below_the_result_any_name_is_legal(query: str) -> None:
    assert script(STREAM + query).queries


def test_windows_over_columns_of_such_names() -> None:
    q = sqlwin.query(
        STREAM
        + """WITH v AS (
          SELECT id AS row_key, k AS op, COUNT(*) AS revision, MAX(op) AS emit, window_time AS at
          FROM TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' SECOND)
          GROUP BY id, k, window_start, window_end, window_time)
        SELECT op AS o, MAX(emit) AS e, SUM(revision) AS n
        FROM TUMBLE(TABLE v, DESCRIPTOR(at), INTERVAL '1' MINUTE)
        GROUP BY op, window_start, window_end"""
    )
    q.push("a", [{"id": 1, "k": "x", "op": "b", "ts": "2024-01-01T09:00:00Z"}])
    q.drain()
    found: pa.Table = q.table()
    assert found.select(["o", "e", "n"]).to_pylist() == [{"o": "x", "e": "b", "n": 1}]
