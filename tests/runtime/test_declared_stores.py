"""Which stores recovery and admission go by. That EXPLAIN names all that are opened, every golden
says, see `tests.golden.stores`."""

from __future__ import annotations

import pytest

from sqlwin.runtime.lowering.chain import chain
from sqlwin.sql import script

STREAM = "CREATE STREAM s (id BIGINT, k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts, OFFSET id);"


@pytest.mark.parametrize(
    ("sql", "pinning", "restorable"),
    [
        ("SELECT MEDIAN(id) AS m FROM s GROUP BY k", ["messages"], ["messages"]),
        ("SELECT SUM(id) OVER (ORDER BY ts) AS n FROM s", ["rows"], ["rows"]),
        (
            "SELECT MEDIAN(k) AS m FROM (SELECT * FROM s WHERE k > 0 UNION ALL SELECT * FROM s)"
            " OVER (ROWS 10 PRECEDING ADVANCE BY 5 ROWS)",
            ["ordered"],
            ["messages"],
        ),
        ("SELECT a.k FROM s a JOIN s b WITHIN 1 HOUR ON a.k = b.k", [], []),
    ],
    ids=["windows", "over", "rows by event time", "join"],
)
def test_message_stores_pin_positions(sql: str, pinning: list[str], restorable: list[str]) -> None:
    """Messages of windows in ROWS lie by number, so no instant of theirs holds a position: the
    rows in order do. No recovery fills a join again."""
    stores = chain(script(STREAM + sql).queries[0]).top.stores
    assert [spec.name for spec in stores if spec.pins] == pinning
    assert [spec.name for spec in stores if spec.restorable] == restorable
