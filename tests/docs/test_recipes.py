"""A recipe of docs/recipes.md runs as it stands, and prints what stands below it.

Only the addresses of servers are those of the suite's own, and the folder that Spark reads, which
is relative to where its JVM was started.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import REPO, Block, each, page_blocks
from tests.support import kafka, postgres

PAGE = [*page_blocks(REPO / "docs" / "recipes.md")]
FIRST = PAGE[0]
"""Makes the file that the others read."""
KINDS = ("", " kafka", " kafka spark", " postgres", " spark")
RECIPES = [block for block in PAGE[1:] if block.kind.startswith("python")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With what the first recipe makes."""
    monkeypatch.chdir(tmp_path)
    exec(FIRST.text, {})
    return tmp_path


def output(block: Block) -> str:
    below = PAGE[PAGE.index(block) + 1]
    assert below.kind == "text output", below
    return below.text + "\n"


def recipes(kind: str) -> pytest.MarkDecorator:
    return each([block for block in RECIPES if block.kind == kind])


def ran(text: str) -> None:
    exec(compile(text, "recipe", "exec"), {"__name__": "__main__"})


@recipes("python recipe")
def test_a_recipe_runs(folder: Path, capsys: pytest.CaptureFixture[str], block: Block) -> None:
    ran(block.text)
    assert capsys.readouterr().out == output(block)


@pytest.fixture(scope="module")
def broker() -> Iterator[kafka.Broker]:
    with kafka.running() as found:
        yield found


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    with postgres.running() as found:
        yield found


@pytest.mark.long
@recipes("python recipe kafka")
def test_a_recipe_of_kafka_runs(
    folder: Path, capsys: pytest.CaptureFixture[str], block: Block, broker: kafka.Broker
) -> None:
    assert "localhost:9092" in block.text
    ran(block.text.replace("localhost:9092", broker.address))
    assert capsys.readouterr().out == output(block)


@pytest.mark.long
@recipes("python recipe postgres")
def test_a_recipe_of_postgres_runs(
    folder: Path, capsys: pytest.CaptureFixture[str], block: Block, server: postgres.Server
) -> None:
    address = "postgresql://postgres@localhost:5432/postgres"
    assert address in block.text
    ran(block.text.replace(address, server.url))
    assert capsys.readouterr().out == output(block)


@pytest.mark.long
@pytest.mark.spark
@recipes("python recipe spark")
def test_a_recipe_of_spark_runs(
    folder: Path, capsys: pytest.CaptureFixture[str], block: Block
) -> None:
    from sqlwin.spark.session.local import local_session

    local_session(2)  # which the recipe's builder finds
    ran(block.text.replace('json("landing")', f"json({os.fspath(folder / 'landing')!r})"))
    assert capsys.readouterr().out == output(block)


@pytest.mark.long
@pytest.mark.spark(processes=True)
@recipes("python recipe kafka spark")
def test_a_recipe_of_sparks_connector_runs(
    tmp_path: Path, block: Block, broker: kafka.Broker
) -> None:
    """In a process of its own, whose JVM has the connector's jars."""
    text = block.text.replace("localhost:9092", broker.address)
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    if "unresolved dependenc" in done.stdout + done.stderr:
        pytest.skip("SKIPPED, AND NOTHING TESTED: Spark's connector cannot be resolved here")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(output(block))


def test_every_recipe_is_run() -> None:
    kinds = {f"python recipe{kind}" for kind in KINDS}
    assert {block.kind for block in RECIPES} == kinds
