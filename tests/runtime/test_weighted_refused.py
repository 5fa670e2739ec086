"""What cannot be made of rows that may be retracted is refused by name, before it runs."""

from __future__ import annotations

import pytest

import sqlwin
from sqlwin.errors import QueryError

MINUTES = """
CREATE STREAM clicks (user STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE VIEW minutes AS
SELECT user, window_end AS at, COUNT(*) AS n
FROM TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY user, window_start, window_end {emit};
SELECT user, SUM(n) AS n FROM minutes OVER (PARTITION BY user ORDER BY at {window}) {kept}
"""
SESSION = "SESSION INTERVAL '1' HOUR GAP"


@pytest.mark.parametrize(
    ("window", "kept", "why"),
    [
        (SESSION, "EXPIRED EMIT", "EXPIRED EMIT of an input whose rows may be retracted"),
    ],
)
def test_a_window_is_refused(window: str, kept: str, why: str) -> None:
    with pytest.raises(QueryError, match=why):
        sqlwin.query(MINUTES.format(emit="", window=window, kept=kept))


def test_with_a_ttl_as_without_and_rows_are_counted_only_without() -> None:
    hint = "SELECT /*+ STATE_TTL('minutes' = '1 day') */ "
    counted = MINUTES.rpartition("SELECT")[0].format(emit="") + hint
    with pytest.raises(QueryError, match="a TTL of windows in ROWS over a result"):
        sqlwin.query(
            counted + "COUNT(*) AS n FROM minutes OVER (ROWS 9 PRECEDING ADVANCE BY 3 ROWS)"
        )
    ttl = MINUTES.replace("SELECT user, SUM", hint + "user, SUM")
    with pytest.raises(QueryError, match="RETAIN n ROWS of an input whose rows may be retracted"):
        sqlwin.query(ttl.format(emit="", window=SESSION, kept="RETAIN 3 ROWS"))
    sqlwin.query(ttl.format(emit="", window=SESSION, kept=""))
    below = MINUTES.replace(
        "SELECT user, window_end", hint.replace("minutes", "clicks") + "user, window_end"
    )
    with pytest.raises(QueryError, match="with a TTL of its keys or of those below"):
        sqlwin.query(below.format(emit="", window=SESSION, kept="RETAIN 3 ROWS"))


def test_of_rows_that_stand_it_is_made() -> None:
    sqlwin.query(MINUTES.format(emit="", window=SESSION, kept=""))
    sqlwin.query(MINUTES.format(emit="", window=SESSION, kept="RETAIN 3 ROWS"))
    emit = "EMIT ON CLOSE LATE NEVER"
    for kept in ("", "RETAIN 3 ROWS"):
        sqlwin.query(MINUTES.format(emit=emit, window=SESSION, kept=kept))
