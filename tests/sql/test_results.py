"""Names of result columns: those that each result has are no names for others."""

import pyarrow as pa
import pytest

import sqlwin
from sqlwin.sql import script
from tests.sql.cases import mistake, underlined

STREAM = """CREATE STREAM a (id BIGINT, k STRING, op STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts);
"""


@pytest.mark.parametrize(
    ("query", "name", "place", "legal"),
    [
        ("SELECT id, k AS op FROM a", "op", "k AS op", "k AS another name"),
        ("SELECT op FROM a", "op", "op", "op AS another name"),
        ("SELECT id + 1 Emit FROM a", "emit", "id + 1 Emit", "id + 1 AS another name"),
        ("SELECT * FROM a", "op", "*", "op AS another name, in a list of columns"),
        ("SELECT x.* FROM a AS x", "op", "x.*", "op AS another name, in a list of columns"),
        (
            "SELECT k, COUNT(*) AS revision FROM a GROUP BY k",
            "revision",
            "COUNT(*) AS revision",
            "COUNT(*) AS another name",
        ),
        (
            "SELECT LAG(k) OVER (ORDER BY ts) AS row_key FROM a",
            "row_key",
            "LAG(k) OVER (ORDER BY ts) AS row_key",
            "LAG(k) OVER (ORDER BY ts) AS another name",
        ),
        ("CREATE VIEW v AS SELECT op FROM a; SELECT op FROM v", "op", "op", "op AS another name"),
        (
            "CREATE SINK s WITH (connector = 'none'); INSERT INTO s SELECT op FROM a",
            "op",
            "op",
            "op AS another name",
        ),
    ],
)
def test_a_result_has_such_a_column_already(query: str, name: str, place: str, legal: str) -> None:
    error = mistake(STREAM + query)
    assert error.message == f"each result has a column {name} of its own"
    assert (underlined(error), error.legal) == (place, legal)


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
