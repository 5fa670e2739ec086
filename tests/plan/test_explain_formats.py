"""EXPLAIN as data, as a flowchart and as SVG, of every query of the goldens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlwin.cli import main
from sqlwin.errors import InputError, QueryError
from sqlwin.pictures.plan_diagram import svg
from sqlwin.plan.explain.mermaid import mermaid
from sqlwin.plan.explain.structure import structure
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.lowering.explained import explain_script, stores_of
from sqlwin.sql import script
from sqlwin.testing.opened import bound
from sqlwin.testing.runner import collect

REPO = Path(__file__).parents[2]
KEYS = {"output", "columns", "errors_into", "delivery", "sources", "warnings", "stages"}
STAGE = {"id", "streams", "nodes", "operator", "stores", "policy", "facts", "warnings"}
NODE = {"id", "kind", "text", "inputs", "columns", "attributes"}


def scripts(step: int) -> Iterator[Script]:
    for golden in collect([REPO / "tests" / "golden"])[::step]:
        try:
            asked = bound(golden)
            explain_script(asked)
        except (QueryError, InputError):  # it is about a refusal, which its text has too
            continue
        yield asked


def check(found: dict[str, Any]) -> None:
    """That all ids are there, and the keys are those that are documented."""
    again = json.loads(json.dumps(found))
    for query in again["queries"]:
        assert query.keys() == KEYS
        ids = {node["id"] for stage in query["stages"] for node in stage["nodes"]}
        for stage in query["stages"]:
            assert stage.keys() == STAGE
            assert stage["operator"] is None or stage["operator"] in ids
            assert all(node.keys() - {"stream"} == NODE for node in stage["nodes"])
            assert {below for node in stage["nodes"] for below in node["inputs"]} <= ids
            assert not stage["stores"] or stage["operator"] is not None


LINE = re.compile(
    r'flowchart TD|  end|  subgraph \w+\["[^"]*"\]|  \w+ (-->|-\.-) \w+'
    r'|  \w+(\["[^"]*"\]|\[/"[^"]*"/\]|\[\("[^"]*"\)\]|\(\["[^"]*"\]\))'
)


@pytest.mark.long
def test_every_golden_has_data_and_a_flowchart() -> None:
    for each in scripts(8):
        found = structure(each, stores_of)
        check(found)
        assert [line for line in mermaid(found).splitlines() if not LINE.fullmatch(line)] == []


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(4, id="some", marks=pytest.mark.long),
        pytest.param(1, id="every", marks=pytest.mark.hours),
    ],
)
def test_a_golden_has_data_without_exception(step: int) -> None:
    for number, each in enumerate(scripts(step)):
        found = structure(each, stores_of)
        check(found)
        assert mermaid(found).startswith("flowchart TD\n")
        if number % 20 == 0:
            assert svg(found).startswith("<svg")


def test_svg_names_what_it_draws() -> None:
    text = (REPO / "queries" / "delay_trend.sql").read_text(encoding="utf-8")
    drawn = svg(structure(script(text), stores_of))
    for word in ("results", "OverAggregate", "Retention: 1 day", "store rows", "flights"):
        assert word in drawn


@pytest.mark.parametrize(
    ("format", "begins"), [("json", "{"), ("mermaid", "flowchart TD"), ("svg", "<svg")]
)
def test_the_command_prints_it(
    format: str, begins: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "two.sql"
    file.write_text(
        "CREATE STREAM s (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts); "
        "SELECT n FROM s; EXPLAIN SELECT n + 1 AS m FROM s",
        encoding="utf-8",
    )
    assert main(["explain", str(file), "--format", format]) == 0
    assert capsys.readouterr().out.startswith(begins)
    assert main(["explain", str(file), "--format", format, "--rate", "1/s", "--keys", "1"]) == 2
    assert "--rate, --keys and --analyze go with --format text" in capsys.readouterr().err
