"""`--metrics FILE|PORT` and `--log json`."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from sqlwin.cli import main
from sqlwin.running.metrics_outlet import metrics_outlet
from sqlwin.runtime.connectors.metrics import OperatorMetrics, QueryMetrics

TEXT = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders/*.jsonl');
CREATE SINK totals WITH (connector = 'none');
INSERT INTO totals
SELECT product, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
WHERE value > 0
GROUP BY product, window_start, window_end
EMIT LATE ON UPDATE RETAIN 10 MINUTES;
"""


def land(home: Path, name: str, *rows: tuple[int, str]) -> None:
    (home / "orders").mkdir(exist_ok=True)
    (home / "q.sql").write_text(TEXT)
    named = ({"product": "tea", "value": v, "ts": f"2024-01-01T{ts}Z"} for v, ts in rows)
    text = "".join(json.dumps(row) + "\n" for row in named)
    (home / "orders" / f"{name}.jsonl").write_text(text)


def ran(home: Path, *more: str) -> list[dict[str, Any]]:
    """The metrics of each batch."""
    into = home / "metrics.jsonl"
    command = ["run", str(home / "q.sql"), "--engine", "embedded", "--metrics", str(into), *more]
    assert main(command) == 0
    return [json.loads(line) for line in into.read_text().splitlines()]


def test_a_line_for_each_batch(tmp_path: Path) -> None:
    """Two rows in the first batch, one that WHERE drops; then one late, one expired."""
    land(tmp_path, "a", (1, "09:00:10"), (0, "09:00:20"), (2, "09:20:00"))
    land(tmp_path, "b", (4, "09:19:10"), (8, "09:00:30"), (16, "09:20:30"))
    first, second, last = ran(tmp_path, "--checkpoint", str(tmp_path / "state"))
    operator = first["operators"][0]
    assert operator["operator"] == "WindowAggregate"
    assert (first["rows_read"], first["rows_emitted"], first["unread_splits"]) == (
        3,
        1,
        {"orders": 1},
    )
    assert [operator[name] for name in ("rows_in", "late", "rows_out")] == [2, 0, 1]
    assert operator["windows_open"] == 1
    assert operator["state_rows"] > 0
    assert operator["state_bytes"] > 0
    assert first["watermarks"] == {"orders": "2024-01-01T09:20:00Z"}
    assert first["watermark_lag_seconds"]["orders"] > 0
    assert set(first["seconds"]) == {"read", "operators", "sinks", "commit"}
    assert second["errors"] == {"expired": 1}
    operator = second["operators"][0]
    assert [operator[name] for name in ("rows_in", "late", "expired", "rows_out")] == [2, 1, 1, 1]
    assert (last["rows_read"], last["operators"][0]["rows_in"]) == (0, 0)


@pytest.mark.parametrize(
    ("window", "retain"),
    [
        ("FROM SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)", "10 MINUTES"),
        ("FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)", "1 ROWS"),
    ],
)
def test_expired_rows_that_only_the_stores_know(tmp_path: Path, window: str, retain: str) -> None:
    """They are of an operator, too: the stores say whether a row is."""
    land(tmp_path, "a", (1, "09:00:10"), (2, "09:20:00"))
    land(tmp_path, "b", (4, "09:00:12"), (8, "09:20:30"))
    of = "FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
    text = TEXT.replace(of, window).replace("10 MINUTES", retain)
    (tmp_path / "q.sql").write_text(text)
    batches = ran(tmp_path)
    assert batches[1]["errors"] == {"expired": 1}
    assert [batch["operators"][0]["expired"] for batch in batches] == [0, 1, 0]


def test_state_that_is_not_kept_has_no_size(tmp_path: Path) -> None:
    land(tmp_path, "a", (1, "09:00:10"))
    operator = ran(tmp_path)[0]["operators"][0]
    assert (operator["state_bytes"], operator["windows_open"]) == (None, 1)


def test_each_stage_of_a_chain(tmp_path: Path) -> None:
    land(tmp_path, "a", (1, "09:00:10"), (2, "09:01:10"), (3, "09:02:10"))
    select = TEXT[TEXT.index("SELECT") : TEXT.index(";\n", TEXT.index("SELECT"))]
    top = "SELECT product, MAX(total) AS most FROM totals_ GROUP BY product"
    chained = TEXT.replace(select, top)
    view = select.replace("SELECT product,", "SELECT product, window_end,")
    chained = chained.replace("INSERT", f"CREATE VIEW totals_ AS {view};\nINSERT")
    (tmp_path / "q.sql").write_text(chained)
    first = ran(tmp_path)[0]
    below, above = first["operators"]
    assert (below["rows_in"], below["rows_out"]) == (3, 2)
    assert above["rows_in"] == 2


def test_prometheus_reads_totals() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    one = OperatorMetrics("WindowAggregate", rows_in=3, state_bytes=7)
    batch = QueryMetrics(0, 1, 10**15, 3, 1, {'a "b"': 1}, {"o": 10**15}, {"read": 0.5}, (one,))
    with metrics_outlet(str(port)) as outlet:
        outlet(batch)
        outlet(batch)
        with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"http://127.0.0.1:{port}/else")
    labels = 'query="0",stage="0",operator="WindowAggregate"'
    assert f"sqlwin_operator_rows_in_total{{{labels}}} 6" in lines
    assert f"sqlwin_operator_state_bytes{{{labels}}} 7" in lines
    assert 'sqlwin_errors_total{query="0",reason="a \\"b\\""} 2' in lines
    assert 'sqlwin_watermark_seconds{query="0",stream="o"} 1000000000' in lines
    assert "# TYPE sqlwin_batches_total counter" in lines


def test_an_outlet_that_cannot_be_opened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    land(tmp_path, "a", (1, "09:00:10"))
    command = ["run", str(tmp_path / "q.sql"), "--engine", "embedded", "--metrics"]
    assert main([*command, str(tmp_path / "no" / "file")]) == 2
    assert main([*command, "99999"]) == 2
    said = capsys.readouterr().err
    assert "cannot be opened: No such file or directory; legal is a file, a port" in said
    assert "--metrics 99999 cannot be opened" in said


def test_the_log_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    land(tmp_path, "a", (1, "09:00:10"), (2, "09:20:00"))
    land(tmp_path, "b", (8, "09:00:30"))
    assert main(["run", str(tmp_path / "q.sql"), "--engine", "embedded", "--log", "json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [event["event"] for event in events] == ["batch", "refused", "batch", "batch", "done"]
    assert events[0]["watermarks"] == {"orders": "2024-01-01T09:20:00Z"}
    assert (events[1]["level"], events[1]["reason"]) == ("warning", "expired")
    assert events[-1]["refused"] == {"expired": 1}
