"""A script in this process: what an interruption leaves, and what a restart still knows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sqlwin.embedded import run as running
from sqlwin.embedded import script_query
from sqlwin.embedded.run import run
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.sources import FileSource
from sqlwin.runtime.files.source import Decoded
from sqlwin.sql import script
from tests.support.embedded.runs import SCRIPT, interrupt, land, sleeping


@pytest.fixture
def parsed() -> Script:
    return script(SCRIPT)


@pytest.mark.parametrize("follow", [True, False])
def test_an_interrupted_batch_is_done_again(parsed: Script, tmp_path: Path, follow: bool) -> None:
    """Its rows were in the task, but not in what is committed: they count once."""
    land(tmp_path, "1", "09:00:10", 1)
    land(tmp_path, "2", "09:01:10", 8)
    kept = tmp_path / "state"
    options = RunOptions(tmp_path, kept, follow=follow, show=interrupt)
    if follow:
        run(parsed, options)
    else:
        with pytest.raises(KeyboardInterrupt):
            run(parsed, options)
    shown: list[pl.DataFrame] = []
    summary = run(parsed, RunOptions(tmp_path, kept, drain=True, show=shown.append))
    assert summary.read == 1
    assert pl.concat(shown)["total"].to_list() == [1, 8]


def test_a_restart_knows_the_deadline(
    parsed: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A correction that was due before comes without a further file."""
    for name, ts, value in (("1", "09:00:10", 1), ("2", "09:01:10", 8), ("3", "09:00:20", 2)):
        land(tmp_path, name, ts, value)
    clock = [1_000_000]
    monkeypatch.setattr(script_query, "now", lambda: clock[0])
    kept, shown = tmp_path / "state", list[pl.DataFrame]()
    run(parsed, RunOptions(tmp_path, kept, show=shown.append))
    assert pl.concat(shown)["total"].to_list() == [1]
    clock[0] += 1_000_000
    sleeps = iter(["before the tick"])

    def sleep(_: float) -> None:
        if next(sleeps, None) is None:
            raise KeyboardInterrupt

    sleeping(monkeypatch, running, sleep)
    run(parsed, RunOptions(tmp_path, kept, follow=True, show=shown.append))
    assert shown[1].select("total", "emit").rows() == [(3, "late")]


def test_what_a_source_warns_of_is_passed_on(
    parsed: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(tmp_path, "1", "09:00:10", 1)
    reads = FileSource.read

    def doubtful(self: FileSource, *given: Any, **more: Any) -> Decoded:
        return replace(reads(self, *given, **more), warnings=("it looks odd",))

    monkeypatch.setattr(FileSource, "read", doubtful)
    warned: list[str] = []
    run(parsed, RunOptions(tmp_path, on_warning=warned.append))
    assert warned == ["it looks odd"]


def test_a_last_line_that_is_not_complete_waits(parsed: Script, tmp_path: Path) -> None:
    land(tmp_path, "1", "09:00:10", 1)
    file = tmp_path / "orders" / "1.jsonl"
    whole, kept = file.read_text(), tmp_path / "state"
    warnings_: list[str] = []
    file.write_text(whole + whole[:-5])
    assert run(parsed, RunOptions(tmp_path, kept, on_warning=warnings_.append)).read == 1
    assert warnings_ == [
        f"the last line of {file} has no line end: it is read when it has one, or by a run "
        "with --drain"
    ]
    file.write_text(whole * 3)
    shown: list[pl.DataFrame] = []
    summary = run(parsed, RunOptions(tmp_path, kept, drain=True, show=shown.append))
    assert (summary.read, summary.batches) == (2, 2)
    assert pl.concat(shown)["total"].to_list() == [3]


def test_rows_appended_while_a_run_follows(
    parsed: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(tmp_path, "1", "09:00:10", 1)
    file = tmp_path / "orders" / "1.jsonl"
    steps = iter([file.read_text() * 2, file.read_text() * 2 + '{"value', file.read_text() * 3])

    def sleep(_: float) -> None:
        text = next(steps, None)
        if text is None:
            raise KeyboardInterrupt
        file.write_text(text)

    sleeping(monkeypatch, running, sleep)
    kept = tmp_path / "state"
    assert run(parsed, RunOptions(tmp_path, kept, follow=True)).read == 3
    shown: list[pl.DataFrame] = []
    assert run(parsed, RunOptions(tmp_path, kept, drain=True, show=shown.append)).read == 0
    assert pl.concat(shown)["total"].to_list() == [3]


def test_a_last_line_that_waits_while_a_run_follows_is_warned_of(
    parsed: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(tmp_path, "1", "09:00:10", 1)
    file = tmp_path / "orders" / "1.jsonl"
    file.write_text(file.read_text() + '{"value')
    monkeypatch.setattr("sqlwin.runtime.files.incomplete_lines.SECONDS", 0.0)
    warnings_, expected = (
        list[str](),
        f"the last line of {file} has no line end: it is read when it",
    )

    def sleep(_: float) -> None:
        if warnings_:
            raise KeyboardInterrupt

    sleeping(monkeypatch, running, sleep)
    run(parsed, RunOptions(tmp_path, follow=True, on_warning=warnings_.append))
    assert [text.startswith(expected) for text in warnings_] == [True, True]  # and at the end


def test_a_log_that_is_rotated_while_a_run_follows(
    parsed: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(tmp_path, "1", "09:00:10", 1)
    file = tmp_path / "orders" / "1.jsonl"
    line = file.read_text()

    def rotate() -> None:
        with file.open("a") as log:
            log.write(line)
        file.rename(f"{file}.1")
        file.write_text(line * 3)

    steps = iter([rotate, lambda: None])

    def sleep(_: float) -> None:
        step = next(steps, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    sleeping(monkeypatch, running, sleep)
    kept, shown = tmp_path / "state", list[pl.DataFrame]()
    assert run(parsed, RunOptions(tmp_path, kept, follow=True)).read == 5
    assert run(parsed, RunOptions(tmp_path, kept, drain=True, show=shown.append)).read == 0
    assert pl.concat(shown)["total"].to_list() == [5]
