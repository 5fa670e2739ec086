"""Files that a hint OPTIONS names, read and written beside those of the declaration."""

from __future__ import annotations

import json
from pathlib import Path

from sqlwin.embedded.run import run
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script

SCRIPT = """
CREATE STREAM orders (id BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'new', format = 'csv');
CREATE TABLE done (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'done', 'format' = 'json');
INSERT INTO done SELECT id FROM orders;
INSERT INTO done /*+ OPTIONS('path' = 'both') */
SELECT id FROM orders n
JOIN orders /*+ OPTIONS('path' = 'old', 'delimiter' = ';') */ o USING (id);
"""


def test_a_source_and_a_sink_of_other_options(tmp_path: Path) -> None:
    for folder, sign, ids in (("new", ",", (2, 3)), ("old", ";", (1, 2))):
        rows = [f"{id_}{sign}2024-01-01T00:00:00Z" for id_ in ids]
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.csv").write_text("\n".join([f"id{sign}ts", *rows]), "utf-8")
    run(script(SCRIPT), RunOptions(tmp_path, tmp_path / "state", drain=True))
    assert _written(tmp_path / "done") == [2, 3]
    assert _written(tmp_path / "both") == [2]


def _written(folder: Path) -> list[int]:
    lines = "".join(path.read_text("utf-8") for path in folder.glob("*.jsonl")).splitlines()
    return sorted(json.loads(line)["id"] for line in lines)
