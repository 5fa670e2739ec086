"""A run's progress as a view that is redrawn at the bottom of the terminal.

Results, warnings and rows of the error stream scroll by above it, as plain lines have them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from sqlwin.live.figures import Figures
from sqlwin.live.view import view
from sqlwin.running.progress import Progress
from sqlwin.runtime.connectors.metrics import OnMetrics, QueryMetrics
from sqlwin.runtime.connectors.progress import Batch, Summary

PER_SECOND = 5
READING, FOLLOWING = "reading", "waiting for files; Ctrl-C ends the run"


class LiveProgress(Progress):
    """follow: the run goes on as files arrive. Used in `running`, and plain outside of it.

    Rich draws the view in a thread of its own: nothing changes the figures meanwhile."""

    def __init__(self, err: TextIO, follow: bool = False) -> None:
        super().__init__(err)
        self.figures, self.drawn = Figures(), threading.Lock()
        self.reading = FOLLOWING if follow else READING
        self.waits = "looking at the input"
        self.console = Console(file=err, highlight=False, markup=False)
        self.spinner = Spinner("dots")
        self.live: Live | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        with Live(
            get_renderable=self._view,
            console=self.console,
            refresh_per_second=PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        ) as self.live:
            try:
                yield
            finally:
                self.live = None

    def above(self, on: TextIO) -> TextIO:
        """What is written to a file on the same terminal, without falling into the view."""
        return _Above(self, on)  # type: ignore[return-value]

    def metrics(self, more: OnMetrics | None) -> OnMetrics:
        """Takes the metrics of each batch, and passes them to `more`."""

        def take(batch: QueryMetrics) -> None:
            with self.drawn:
                self.figures.add(batch, time.monotonic())
            self.waits = self.reading
            if more is not None:
                more(batch)

        return take

    def starting(self, engine: str) -> None:
        self.waits = f"waiting for {engine} to start"

    def started(self, engine: str, seconds: float) -> None:
        super().started(engine, seconds)
        self.waits = "waiting for the first batch"

    def batch(self, batch: Batch) -> None:
        """The figures have it."""

    def done(self, summary: Summary) -> None:
        super().done(summary)
        if self.figures.late:
            self._say(f"  late: {self.figures.late:,} rows")

    def say_above(self, text: str) -> None:
        self.console.print(Text(text), end="", soft_wrap=True)

    def _say(self, line: str) -> None:
        if self.live is None:
            super()._say(line)
        else:
            self.say_above(f"{line}\n")

    def _view(self) -> RenderableType:
        now = time.monotonic()
        with self.drawn:
            return view(self.figures, self.waits, now - self.began, now, self.spinner)


class _Above:
    """Whole lines, each above the view."""

    def __init__(self, progress: LiveProgress, on: TextIO) -> None:
        self.progress, self.on, self.waiting = progress, on, ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self.progress.live is None:
            return self.on.write(text)
        self.waiting += text
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        self.write("".join(lines))

    def flush(self) -> None:
        if self.waiting:
            text, self.waiting = self.waiting, ""
            self.progress.say_above(text)
        self.on.flush()
