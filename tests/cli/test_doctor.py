"""`sqlwin doctor` says what a machine lacks, and how to mend it."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from sqlwin.cli import main
from sqlwin.running import diagnosis


def lines(capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """What each line is of: its state, and the rest."""
    found = (line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    return {rest.split("  ")[0]: [state, rest] for state, rest in found}


def java(home: Path, version: str) -> None:
    (home / "bin").mkdir()
    (home / "bin" / "java").write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    (home / "bin" / "java").chmod(0o755)


@pytest.mark.parametrize(
    ("version", "state", "what"),
    [
        ("17.0.15", "ok", "17, "),
        ("21", "ok", "21, "),
        ("1.8.0_392", "failed", '1.8.0_392"; Spark needs 17: install a JRE'),
        ("11.0.2", "failed", "Spark needs 17"),
    ],
)
def test_java(
    version: str,
    state: str,
    what: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    java(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert main(["doctor", "--quick"]) == (state == "failed")
    found = lines(capsys)["Java"]
    assert found[0] == state
    assert what in found[1]


@pytest.mark.parametrize("home", [True, False])
def test_no_java(
    home: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if home:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    else:
        monkeypatch.delenv("JAVA_HOME", raising=False)
    assert main(["doctor", "--quick"]) == 1
    state, said = lines(capsys)["Java"]
    assert state == "failed"
    assert "or set JAVA_HOME" in said


def test_a_package_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    java(tmp_path, "17")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(diagnosis, "PACKAGES", (("Kafka", "no_such_module", "kafka"),))
    assert main(["doctor", "--quick"]) == 0
    state, said = lines(capsys)["Kafka"]
    assert (state, said.endswith(": pip install 'sqlwin[kafka]'")) == ("missing", True)


def test_every_extra_is_looked_for(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--quick"])
    assert {"Kafka", "PostgreSQL", "Iceberg", "Pictures", "Notebooks"} <= lines(capsys).keys()
    told = importlib.metadata.metadata("sqlwin").get_all("Provides-Extra") or []
    known = {extra for _, _, extra in diagnosis.PACKAGES}
    assert known == set(told) - {"dev", "docs"}


def test_little_memory_and_disk(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(diagnosis, "MEMORY", 10**6)
    monkeypatch.setattr(diagnosis, "DISK", 10**9)
    main(["doctor", "--quick"])
    found = lines(capsys)
    assert [found[of][0] for of in ("Memory", "Disk")] == ["warning", "warning"]


def test_a_row_goes_through_in_process() -> None:
    assert diagnosis._in_process().state == "ok"


@pytest.mark.long
@pytest.mark.spark
def test_a_row_goes_through_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    found = lines(capsys)
    assert [found[of][0] for of in ("In process", "Spark")] == ["ok", "ok"]
