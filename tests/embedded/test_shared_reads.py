"""Several sinks from one script: what they read in common is read once, also behind a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlwin.embedded.run import run
from sqlwin.embedded.script_query import ScriptQuery
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.sources import FileSource
from sqlwin.runtime.files.pieces import Piece
from sqlwin.runtime.files.source import Decoded
from sqlwin.sql import script

SCRIPT = """
CREATE STREAM orders (
  product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts
) WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
CREATE SINK totals WITH (connector = 'files', path = 'totals', format = 'json');
CREATE SINK large WITH (connector = 'files', path = 'large', format = 'json');
EXECUTE STATEMENT SET BEGIN
  INSERT INTO totals SELECT product, SUM(value) AS total
  FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY product, window_start;
  INSERT INTO large SELECT product, value FROM orders WHERE value > 1;
END;
"""


def land(home: Path, number: int, value: object) -> None:
    (home / "orders").mkdir(exist_ok=True)
    row = {"product": "tea", "value": value, "ts": f"2024-01-01T09:0{number}:00Z"}
    (home / "orders" / f"{number}.jsonl").write_text(json.dumps(row) + "\n")


def written(home: Path, sink: str, column: str) -> list[Any]:
    parts = sorted((home / sink).glob("*.jsonl"))
    return [json.loads(line)[column] for part in parts for line in part.read_text().splitlines()]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were read, in order."""
    known: list[str] = []
    plain = FileSource.read

    def counted(
        self: FileSource, piece: Piece, number: int, watermark: int | None = None
    ) -> Decoded:
        known.append(Path(piece.path).name)
        return plain(self, piece, number, watermark)

    monkeypatch.setattr(FileSource, "read", counted)
    return known


def test_each_file_is_read_once(tmp_path: Path, reads: list[str]) -> None:
    for number, value in enumerate((1, 2, "bad", 4), start=1):
        land(tmp_path, number, value)
    errors: list[Any] = []
    run(
        script(SCRIPT), RunOptions(tmp_path, tmp_path / "kept", drain=True, on_errors=errors.append)
    )
    again = "3.jsonl"  # its malformed row has the watermark of the query
    assert reads == ["1.jsonl", "2.jsonl", "3.jsonl", again, "4.jsonl"]
    assert written(tmp_path, "totals", "total") == [1, 2, 4]
    assert written(tmp_path, "large", "value") == [2, 4]
    assert sum(map(len, errors)) == 2, "each query has the malformed row in its error stream"


def test_behind_a_crash_each_goes_on_from_its_own_place(
    tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second query dies in its third batch, which the first has committed."""
    for number in range(1, 5):
        land(tmp_path, number, number)
    commits: list[int] = []
    plain = ScriptQuery._commit

    def dies(self: ScriptQuery) -> None:
        if self.number == 1 and self.progress.batch == 3 and not commits:
            commits.append(3)
            raise KeyboardInterrupt
        plain(self)

    monkeypatch.setattr(ScriptQuery, "_commit", dies)
    with pytest.raises(KeyboardInterrupt):
        run(script(SCRIPT), RunOptions(tmp_path, tmp_path / "kept"))
    before = len(reads)
    run(script(SCRIPT), RunOptions(tmp_path, tmp_path / "kept", drain=True))
    assert sorted(reads[before:]) == ["3.jsonl", "4.jsonl"], "each piece once in the second run"
    assert written(tmp_path, "totals", "total") == [1, 2, 3, 4]
    assert written(tmp_path, "large", "value") == [2, 3, 4]
