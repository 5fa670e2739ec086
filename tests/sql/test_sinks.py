"""What a sink can hold of a query's changes, and what it cannot is refused."""

from pathlib import Path

import pytest

from sqlwin.cli import main
from sqlwin.plan.properties.fingerprint import fingerprint
from sqlwin.sql import script
from tests.support.sql.cases import underlined
from tests.support.sql.chains import BOUNDS, COUNTED, STREAMS, mistake

SINK = "CREATE SINK s WITH (connector = 'none', changelog = '{}'); INSERT INTO s "
JOINED = "SELECT b.price FROM bid b LEFT JOIN sold s ON b.auction = s.id"
RANKED = (
    "SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price) AS rn "
    "FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
)
GROUPED = "SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (COUNTED, "late rows correct it"),
        (GROUPED, "early results are replaced by later ones"),
        (COUNTED + " EMIT EARLY ON UPDATE LATE NEVER", "early results are replaced"),
        (COUNTED + " EMIT ON CLOSE TIMEOUT 1 HOUR LATE NEVER", "rows may come after a TIMEOUT"),
        (JOINED, "a row may find a match, or a nearer one, after it was sent"),
        ("SELECT price FROM bid UNION ALL " + JOINED, "results below union change"),
        (f"SELECT DISTINCT n FROM ({GROUPED}) g", "results below query change"),
        (f"SELECT DISTINCT * FROM ({RANKED}) r WHERE rn = 1", "results below "),
        (f"SELECT * FROM ({RANKED}) WHERE rn = 1", "late rows correct it"),
    ],
)
def test_what_changes_cannot_be_appended(query: str, why: str) -> None:
    error = mistake(SINK.format("append") + query)
    assert error.message.startswith(f"s appends, and results of this query change: {why}")
    assert underlined(error) == "s"
    assert error.legal.startswith("changelog = 'upsert' or 'retract'; EMIT FINAL")
    for kind in ("upsert", "retract"):
        assert script(STREAMS + SINK.format(kind) + query).queries


RUNNING = f"SELECT SUM(n) OVER (ORDER BY window_time) AS n FROM ({COUNTED}) c EMIT FINAL"
SESSIONS = "SELECT window_end, COUNT(*) AS n FROM bid [SESSION 1 HOUR GAP] EMIT FINAL"


@pytest.mark.parametrize(
    ("query", "why", "mended"),
    [
        (SESSIONS, "sessions grow together", ""),
        (RUNNING, "results below c change", "; EMIT FINAL in c"),
        (f"SELECT n + 1 AS n FROM ({SESSIONS}) UNION ALL {SESSIONS.replace('window_end,', '')}",
         "results below union change", ""),
    ],
)  # fmt: skip
def test_final_is_advised_where_it_would_help(query: str, why: str, mended: str) -> None:
    error = mistake(SINK.format("append") + query)
    assert error.message == f"s appends, and results of this query change: {why}"
    assert error.legal == f"changelog = 'upsert' or 'retract'{mended}"


HOURS = (
    "SELECT window_start, SUM(n) AS n FROM TUMBLE(TABLE c, DESCRIPTOR(window_time), 1 HOUR) "
    "GROUP BY window_start, window_end EMIT FINAL"
)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT price FROM bid",
        # What is emitted once is not corrected, however the rows below it are.
        f"WITH c AS ({COUNTED}) {HOURS}",
        f"SELECT n FROM (WITH c AS ({COUNTED}) {HOURS}) WHERE n > 1",
        f"SELECT MAX(n) FROM ({GROUPED}) g EMIT FINAL",
        RUNNING.replace(") c", " EMIT FINAL) c"),
        COUNTED + " EMIT FINAL",
        "SELECT b.price FROM bid b JOIN sold s ON b.auction = s.id",
        "SELECT SUM(price) OVER (ORDER BY ts ROWS 3 PRECEDING) FROM bid EMIT LATE NEVER",
        # A group without an aggregate has nothing that a later row would change.
        "SELECT DISTINCT auction FROM bid",
        "SELECT price FROM bid UNION SELECT price FROM sold",
        "SELECT DISTINCT auction, price FROM bid EMIT EARLY EVERY 10 SECONDS RETAIN 1000 ROWS",
        f"SELECT DISTINCT auction, {BOUNDS} FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), 10 SECONDS)",
        "SELECT * FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), 10 SECONDS) EMIT CHANGES",
        "SELECT auction FROM bid OVER (ROWS 9 PRECEDING ADVANCE BY 3 ROWS) GROUP BY auction",
    ],
)
def test_what_stays_can_be_appended(query: str) -> None:
    assert script(STREAMS + SINK.format("append") + query).queries


def test_there_are_three_kinds() -> None:
    error = mistake("CREATE SINK s WITH (connector = 'none', changelog = 'delta')")
    assert error.message == "sink s has an unknown changelog 'delta'"
    assert (underlined(error), error.legal) == (
        "changelog = 'delta'",
        "append, upsert, retract",
    )


def test_a_checkpoint_knows_whether_both_halves_are_reported() -> None:
    prints = {
        kind: fingerprint(*script(STREAMS + SINK.format(kind) + COUNTED).queries)
        for kind in ("upsert", "retract")
    }
    assert prints["upsert"] == fingerprint(*script(STREAMS + COUNTED).queries)
    assert prints["retract"] != prints["upsert"]


def test_what_each_kind_is_sent(tmp_path: Path) -> None:
    rows = ("1,1,00:01", "1,1,00:02", "1,1,00:30", "1,1,00:03")
    (tmp_path / "bids").mkdir()
    for at, row in enumerate(rows):
        auction, price, time = row.split(",")
        text = f"auction,price,ts\n{auction},{price},2024-01-01T00:{time}Z\n"
        (tmp_path / "bids" / f"{at}.csv").write_text(text)
    options = "connector = 'files', format = 'csv', path"
    stream = f"{STREAMS.split(';')[0]} WITH ({options} = 'bids/*.csv');"
    query = (
        "SELECT window_start, COUNT(*) AS n FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), 10 SECONDS) "
        "GROUP BY window_start "
    )
    late = "EMIT LATE ON UPDATE"
    emits = {"append": "EMIT FINAL", "upsert": late, "retract": late}
    reported = {}
    for kind, emit in emits.items():
        sink = f"CREATE SINK out WITH ({options} = '{kind}', changelog = '{kind}');"
        (tmp_path / f"{kind}.sql").write_text(
            f"{stream}\n{sink}\nINSERT INTO out {query}{emit} RETAIN 1 HOUR;"
        )
        assert main(["run", str(tmp_path / f"{kind}.sql"), "--engine", "embedded"]) == 0
        parts = sorted((tmp_path / kind).iterdir())
        reported[kind] = [line for part in parts for line in part.read_text().splitlines()[1:]]
    first, later = "2024-01-01T00:00:00Z,", "2024-01-01T00:00:30Z,1"
    assert reported["append"] == [f"{first}3", later]
    assert [line.split(",")[1:4] for line in reported["upsert"] if line.startswith(first)] == [
        ["2", "+I", "full"], ["3", "+U", "late"],
    ]  # fmt: skip
    assert [line.split(",")[1:4] for line in reported["retract"] if line.startswith(first)] == [
        ["2", "+I", "full"], ["2", "-U", "late"], ["3", "+U", "late"],
    ]  # fmt: skip
