"""`sqlwin state`: checkpoints of the embedded engine; those of Spark are told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sqlwin
from sqlwin.cli import main
from sqlwin.embedded.checkpoint.reader import status
from tests.support.embedded.orders import A_MINUTE_EACH, MEDIANS, push, stored, without

SCRIPT = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders.jsonl', format = 'json');
CREATE SINK nowhere WITH (connector = 'none');
INSERT INTO nowhere SELECT product, MEDIAN(value) AS middle
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
WHERE value < :most GROUP BY product, window_start, window_end RETAIN INTERVAL '1' HOUR;
INSERT INTO nowhere SELECT COUNT(*) AS n FROM orders;
"""
ROWS = [
    {"product": "tea", "value": 1, "ts": "2024-01-01T09:00:10Z"},
    {"product": None, "value": 2, "ts": "2024-01-01T09:00:20Z"},
    {"product": "tea", "value": 4, "ts": "2024-01-01T09:01:20Z"},
]


@pytest.fixture
def checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    (tmp_path / "q.sql").write_text(SCRIPT)
    (tmp_path / "orders.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    run = ["run", str(tmp_path / "q.sql"), "--engine", "embedded", "--param", "most=9"]
    assert main([*run, "--checkpoint", str(tmp_path / "state")]) == 0
    capsys.readouterr()
    return tmp_path / "state"


@pytest.fixture
def state(checkpoint: Path, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """What the command prints, as rows; or its one message, where it fails."""

    def state(*options: str, file: Path = checkpoint) -> list[dict[str, object]] | str:
        code = main(["state", str(file), "--format", "json", *options])
        out, err = capsys.readouterr()
        return err if code else [json.loads(line) for line in out.splitlines()]

    return state


def test_windows_by_key_and_time(state) -> None:  # type: ignore[no-untyped-def]
    assert [row["middle"] for row in state("--key", '"tea"')] == [1.0, 4.0]
    assert [row["middle"] for row in state("--key", '{"product": null}')] == [2.0]
    assert [row["middle"] for row in state("--key", "null", "--from", "2024-01-01T09:01:00Z")] == []
    assert [row["state"] for row in state("--from", "2024-01-01T09:01:00Z")] == ["open"]
    assert state("--query", "1", "--to", "0")[0]["n"] == 3


def test_stores_and_what_they_hold(state) -> None:  # type: ignore[no-untyped-def]
    assert [(row["name"], row["rows"]) for row in state()] == [
        *(("panes", 3), ("revisions", 0), ("messages", 3))
    ]
    assert [row["__pane"] for row in state("--store", "panes")] == [
        *(1704099600000000, 1704099600000000, 1704099660000000)
    ]
    assert [row["value"] for row in state("--store", "messages", "--key", '["tea"]')] == [1, 4]
    assert state("--sql", "SELECT COUNT(*) AS n FROM messages JOIN panes USING (product)") == [
        {"n": 4}
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--store", "pans"], "no store is called 'pans'; there are panes, revisions, messages"),
        (["--store", "panes", "--key", "1"], "ask windows, or --store messages"),
        (["--sql", "SELECT 1", "--key", "1"], "--sql stands alone"),
        (["--sql", "SELECT * FROM read_text('q.sql')"], "disabled by configuration"),
        (["--key", "tea"], "--key is JSON, such as"),
        (["--key", "7"], "its product is a STRING, not 7"),
        (["--batch", "7"], "batch 7 is not kept: this host keeps batch 2 only"),
        (["--query", "2"], "there is no"),
    ],
)
def test_what_cannot_be_queried(state, options: list[str], says: str) -> None:  # type: ignore[no-untyped-def]
    assert says in state(*options)


def test_what_is_no_checkpoint(state, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert "is no checkpoint: it is of neither engine" in state(file=tmp_path)
    assert "is no checkpoint: it is of neither engine" in state(file=tmp_path / "nowhere")
    assert "cannot read state from" in state(file=tmp_path / "q.sql")


def test_a_durable_store_beside_its_writer(state, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "orders.state"
    query = stored(file, MEDIANS)
    push(query, A_MINUTE_EACH[:3])
    assert "has no committed state yet" in state(file=file)
    query.flush()
    push(query, A_MINUTE_EACH[3:])  # not written yet
    assert [row["middle"] for row in state("--to", "2030-01-01", file=file)] == [1.0, 2.0]
    query.flush()
    assert [row["middle"] for row in state("--to", "2030-01-01", file=file)] == [3.0, 4.0]
    without(file)
    assert "its bytes are gone" in state("--to", "2030-01-01", file=file)


def test_a_table_is_as_run_prints_it(checkpoint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", str(checkpoint), "--key", '"tea"']) == 0
    header, first, _ = capsys.readouterr().out.splitlines()
    assert header.split()[:4] == ["product", "window_start", "window_end", "middle"]
    assert first.split()[:4] == ["tea", "2024-01-01T09:00:00Z", "2024-01-01T09:01:00Z", "1.0"]


@pytest.mark.parametrize(
    "text",
    [
        *("SELECT * FROM read_text('/etc/hostname')", "SELECT * FROM '/etc/passwd'"),
        *("COPY messages TO 'x'", "SET threads = 2", "INSTALL httpfs", "ATTACH 'x.db'"),
        *("SELECT 1; SELECT 2", "SELECT * FROM glob('/*')", "SELECT (FROM read_text('/etc/x'))"),
    ],
)
def test_a_select_reaches_the_stores_alone(state, text: str) -> None:  # type: ignore[no-untyped-def]
    reported = state("--sql", text)
    assert isinstance(reported, str)
    assert "legal: SELECT" in reported


def test_the_status_of_a_run(state, checkpoint: Path) -> None:  # type: ignore[no-untyped-def]
    found = {(row["what"], row["of"]): row["value"] for row in state("--status")}
    size = (checkpoint.parent / "orders.jsonl").stat().st_size
    assert found["engine", ""] == "embedded"
    assert found["batch", ""] == "2"
    assert found["watermark", "orders"] == "2024-01-01T09:01:20Z"
    assert found["input", "orders orders.jsonl"] == f"{size} bytes"
    assert int(found["state", "rows"]) > 0
    assert int(found["state", "bytes"]) > 0
    assert found["version", "state"] == "5"
    assert "--status stands alone" in state("--status", "--key", "1")


def test_the_status_of_a_store(state, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    q = stored(tmp_path / "store")
    push(q, A_MINUTE_EACH)
    q.flush()
    lines = state("--status", file=tmp_path / "store")
    found = {(row["what"], row["of"]): row["value"] for row in lines}
    assert found["input", "orders"] == "5 rows"
    assert found["position", "orders partition 0"] == "4"
    assert ("batch", "") not in found


def test_the_status_of_a_chain_has_the_streams_alone(tmp_path: Path) -> None:
    (tmp_path / "orders.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    text = (
        SCRIPT[: SCRIPT.index("INSERT")]
        + """
        CREATE VIEW minutes AS SELECT product, window_end, SUM(value) AS total
        FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
        GROUP BY product, window_start, window_end;
        INSERT INTO nowhere SELECT product, MAX(total) AS most FROM minutes GROUP BY product"""
    )
    sqlwin.run(text, tmp_path, tmp_path / "state")
    lines = status(tmp_path / "state")
    assert [line[1] for line in lines if line[0] == "watermark"] == ["orders"]
