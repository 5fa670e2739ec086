"""`sqlwin run` on a pseudo-terminal: results, and below them how the run is going."""

from __future__ import annotations

import io
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from sqlwin.cli import main
from sqlwin.live.display import LiveProgress
from sqlwin.live.figures import Figures
from sqlwin.runtime.connectors.metrics import OperatorMetrics, QueryMetrics
from sqlwin.runtime.connectors.progress import Summary
from tests.support.terminal import SQLWIN, Terminal

TEXT = """
CREATE STREAM taps (door STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (path = 'taps.csv', format = 'csv');
SELECT door, window_start, COUNT(*) AS n
FROM TUMBLE(TABLE taps, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY door, window_start, window_end EMIT LATE ON UPDATE RETAIN 1 HOUR
"""
ROWS = ["a,09:00:10", "b,09:00:50", "a,09:02:00", "a,09:00:20", "b,09:03:00"]


def _given(home: Path) -> None:
    (home / "q.sql").write_text(TEXT)
    rows = (row.replace(",", ",2024-01-01T") + "Z\n" for row in ROWS)
    (home / "taps.csv").write_text("door,ts\n" + "".join(rows))


def test_a_run_that_follows(tmp_path: Path) -> None:
    _given(tmp_path)
    options = ["q.sql", "--engine", "embedded", "--follow"]
    with Terminal([*SQLWIN, "run", *options], tmp_path, os.environ) as run:
        run.wait("a     2024-01-01T09:00:00Z  2  +U  late         1")
        screen = run.wait("5 rows read")
        assert "late 1 · expired 0 · open windows 1 · state" in screen
        assert "watermark of taps at 2024-01-01T09:03:00Z" in screen
        assert "waiting for files; Ctrl-C ends the run" in screen
        assert "100% of the input" in screen
        run.send("\x03")
        assert run.ended() == 0
        assert "done: 5 rows read" in run.text
        assert "open windows" not in run.text  # the view is gone, the results stay
        assert "+U  late" in run.text


def test_plain_lines_on_a_terminal(tmp_path: Path) -> None:
    _given(tmp_path)
    env = {**os.environ, "SQLWIN_PLAIN": "1"}
    with Terminal([*SQLWIN, "run", "q.sql", "--engine", "embedded"], tmp_path, env) as run:
        assert run.ended() == 0
        assert "batch 3: 1 rows read" in run.text
        assert "+U  late" in run.text  # batches are small all the same


def test_in_a_pipe_a_file_is_a_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _given(tmp_path)
    assert main(["run", str(tmp_path / "q.sql"), "--engine", "embedded"]) == 0
    ran = capsys.readouterr()
    assert "batch 1: 5 rows read" in ran.err
    assert "late" not in ran.out


def test_a_setting_says_how_long_a_batch_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _given(tmp_path)
    (tmp_path / "q.sql").write_text("SET 'batch.bytes' = 40;" + TEXT)
    assert main(["run", str(tmp_path / "q.sql"), "--engine", "embedded"]) == 0
    ran = capsys.readouterr()
    assert "batch 4: 1 rows read" in ran.err
    assert "+U  late" in ran.out


def test_figures_of_nothing() -> None:
    figures = Figures()
    assert (figures.rate(1.0), figures.share, figures.windows, figures.state) == (
        0,
        None,
        None,
        None,
    )


def _batch(query: int, read: int, there: int = 100) -> QueryMetrics:
    one = OperatorMetrics("TopN", windows_open=1, late=1)
    return QueryMetrics(
        query,
        1,
        9_000_000,
        1,
        1,
        {},
        {f"s{query}": 5},
        {},
        (one,),
        input_bytes={"s": (read, there)},
    )


def test_figures_stay_while_they_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """By another thread, as rich does."""
    begun, taken = threading.Event(), threading.Event()

    def slow(figures: Figures, *_: object) -> tuple[int, int]:
        before = figures.batches
        begun.set()
        taken.wait(0.2)
        return before, figures.batches

    monkeypatch.setattr("sqlwin.live.display.view", slow)
    progress = LiveProgress(io.StringIO())
    take = progress.metrics(None)
    with ThreadPoolExecutor(1) as beside:
        drawing = beside.submit(progress._view)
        begun.wait()
        take(_batch(0, 1))
        taken.set()
        assert drawing.result() == (0, 0)
    assert progress.figures.batches == 1


def test_the_time_left_is_of_what_this_run_has_read() -> None:
    """Ninety of a hundred bytes were read before it was started again."""
    figures = Figures()
    assert figures.left(5.0) is None
    figures.add(_batch(0, 91), at=10.0)
    assert figures.left(10.0) is None
    figures.add(_batch(0, 92), at=12.0)
    assert figures.left(12.0) == 16.0
    figures.add(_batch(1, 50), at=12.0)  # of a query that has said nothing before
    assert figures.left(12.0) == 2.0 * 58


def test_of_a_topic_the_input_is_what_was_read_and_what_it_lags() -> None:
    """A topic may begin anywhere, so records of this run are counted."""
    figures = Figures()
    for at, lag in ((10.0, 6), (12.0, 5), (13.0, 3)):
        batch = replace(
            _batch(0, 0), rows_read=2, input_bytes={}, lag={"s": {"t/0": lag, "t/1": 1}}
        )
        figures.add(batch, at=at)
    assert figures.share == 6 / 10
    assert figures.left(14.0) == 4.0 * 4 / 4


def test_late_rows_are_only_counted() -> None:
    """Whether they have corrected results, the policies say."""
    err = io.StringIO()
    progress = LiveProgress(err)
    take = progress.metrics(None)
    take(_batch(0, 1))
    progress.done(Summary())
    assert err.getvalue().splitlines()[-1] == "  late: 1 rows"
