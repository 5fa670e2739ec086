"""A process that is killed as it writes a part of a folder leaves each batch there once."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.faults.part_kills import ended, land, parts

SCRIPT = """
SET 'batch.bytes' = 100;
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
CREATE SINK totals WITH (connector = 'files', path = '{out}', format = '{format}');
INSERT INTO totals
SELECT product, window_start, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end
EMIT EARLY ON UPDATE LATE ON UPDATE RETAIN INTERVAL '1' HOUR;
"""


def started(
    home: Path, engine: str, out: str, format_: str, moment: str = "", after: int = 0
) -> int:
    (home / f"{out}.sql").write_text(SCRIPT.format(out=out, format=format_))
    return ended(home, engine, out, moment, after)


MOMENTS = (("within", 1), ("behind", 3), ("within", 3))


@pytest.mark.long
@pytest.mark.parametrize(
    ("engine", "format_"),
    [
        ("embedded", "parquet"),
        pytest.param("embedded", "csv", marks=pytest.mark.hours),
        pytest.param("embedded", "json", marks=pytest.mark.hours),
        pytest.param("spark", "parquet", marks=pytest.mark.spark(processes=True)),
    ],
)
def test_a_part_is_there_once(tmp_path: Path, engine: str, format_: str) -> None:
    """Killed in the midst of a part, with a part that is not committed and, where a start is quick,
    in the midst of one once more."""
    land(tmp_path)
    assert started(tmp_path, "embedded", "whole", format_) == 0
    for moment, after in MOMENTS if engine == "embedded" else MOMENTS[:2]:
        code = started(tmp_path, engine, "cut", format_, moment, after)
        assert code == -signal.SIGKILL, (moment, after)
    assert started(tmp_path, engine, "cut", format_) == 0
    whole, cut = (parts(tmp_path / out, format_) for out in ("whole", "cut"))
    known = ["row_key", "revision"]
    assert not cut.select(known).is_duplicated().any()
    last = [
        each.sort(known).unique("row_key", keep="last").sort("row_key").select("row_key", "total")
        for each in (whole, cut)
    ]
    assert last[0].equals(last[1])
    assert len(last[0]) == 12
    left = [file.name for file in (tmp_path / "cut").iterdir() if file.name.startswith(".")]
    assert left == [], "what was written aside is not left"
