"""Columns of JSON and JSONB are STRINGs: texts from lines, CSV and dicts, which leave as texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sqlwin

LINES = """\
{"id": 1, "payload": {"a": [1, 2.50], "b": "x"}}
{"id": 2, "payload": [1,  {"a": null}]}
{"id": 3, "payload": "{\\"a\\": 7}"}
{"id": 4, "payload": "text"}
{"id": 5, "payload": null}
{"id": 6, "payload": 1.50}
"""
CSV = 'id,payload\n1,"{""a"": [1, 2.50]}"\n2,\n'


@pytest.mark.parametrize("type_", ["STRING", "JSON", "JSONB"])
def test_lines_and_csv(tmp_path: Path, type_: str) -> None:
    (tmp_path / "in.jsonl").write_text(LINES, encoding="utf-8")
    (tmp_path / "in.csv").write_text(CSV, encoding="utf-8")
    from_lines = _copied(tmp_path, "in.jsonl", type_)
    assert from_lines == [
        '{"a": [1, 2.50], "b": "x"}',
        '[1,  {"a": null}]',
        '{"a": 7}',
        "text",
        None,
        "1.50",
    ]
    assert _copied(tmp_path, "in.csv", type_) == ['{"a": [1, 2.50]}', None]


def _copied(folder: Path, path: str, type_: str) -> list[Any]:
    """What a sink of lines has of the column, by id."""
    out = folder / f"out-{path}"
    text = f"""
        CREATE STREAM events (id INT, payload {type_})
            WITH (path = '{folder / path}', format = '{"csv" if path.endswith("csv") else "json"}');
        CREATE SINK copies (id INT, payload {type_})
            WITH (connector = 'files', path = '{out}', format = 'json');
        INSERT INTO copies SELECT id, payload FROM events"""
    sqlwin.run(text, folder, folder / f"state-{path}")
    lines = [line for file in sorted(out.glob("*.jsonl")) for line in file.read_text().splitlines()]
    rows = sorted(map(json.loads, lines), key=lambda row: int(row["id"]))
    return [row["payload"] for row in rows]


def test_pushes_of_dicts() -> None:
    query = sqlwin.query("""
        CREATE STREAM events (id INT, payload JSON, parts ARRAY<JSONB>);
        SELECT payload, payload ->> 'a' AS a, parts[0] -> 'b' AS b FROM events""")
    query.push("events", [{"id": 1, "payload": {"a": 1.5, "c": "é"}, "parts": [{"b": [None]}]}])
    query.push("events", [{"id": 2, "payload": '{"a":"x"}', "parts": None}])
    rows = query.results().to_pylist()
    assert [(row["payload"], row["a"], row["b"]) for row in rows] == [
        ('{"a": 1.5, "c": "é"}', "1.5", "[null]"),
        ('{"a":"x"}', "x", None),
    ]


def test_a_cast_to_json_is_one_to_string() -> None:
    query = sqlwin.query("""
        CREATE STREAM events (id INT, payload STRING);
        SELECT payload::jsonb ->> 'a' AS a, CAST(id AS JSON) AS b FROM events""")
    query.push("events", [{"id": 1, "payload": '{"a": 2}'}])
    (row,) = query.results().to_pylist()
    assert (row["a"], row["b"]) == ("2", "1")
