"""A program on a pseudo-terminal, and the screen that a person would see."""

from __future__ import annotations

import signal
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pexpect
import pyte

PATIENCE = 60
"""Seconds that something awaited may take, on a machine that is busy."""
SQLWIN = (sys.executable, "-m", "sqlwin.cli")
COMMANDS = (
    sys.executable,
    "-c",
    "import shlex, sys\n"
    "from sqlwin.cli import main\n"
    "for line in iter(lambda: input('$ '), 'exit'):\n"
    "    print('exit code', main(shlex.split(line)))",
)
"""A prompt for command lines of sqlwin, in one process, for the imports take longest."""


class Terminal:
    """Used in a `with`, at whose end the program is."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        size: tuple[int, int] = (40, 100),
    ) -> None:
        self.screen = pyte.HistoryScreen(size[1], size[0], history=1_000)
        self.stream = pyte.ByteStream(self.screen)
        self.written = b""
        known = {**env, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
        for size_of_another in ("COLUMNS", "LINES"):
            known.pop(size_of_another, None)
        self.child = pexpect.spawn(
            command[0], [*command[1:]], cwd=str(cwd), env=known, dimensions=size, timeout=PATIENCE
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.child.isalive():
            self.child.kill(signal.SIGKILL)
            self.child.wait()
        self.child.close()

    @property
    def text(self) -> str:
        """What is on the screen, and what has scrolled off it."""
        above = [
            "".join(line[at].data for at in range(self.screen.columns)).rstrip()
            for line in self.screen.history.top
        ]
        return "\n".join([*above, *(line.rstrip() for line in self.screen.display)])

    def send(self, text: str) -> None:
        """As typed; Enter is a carriage return."""
        self.child.send(text)

    def wait(self, wanted: str, times: int = 1) -> str:
        """The screen once the text is on it, so often."""
        until = time.monotonic() + PATIENCE
        while self.text.count(wanted) < times:
            assert time.monotonic() < until, f"{wanted!r} is awaited, and there is\n{self.text}"
            try:
                self._read(0.2)
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                assert self.text.count(wanted) >= times, f"ended without {wanted!r}\n{self.text}"
        return self.text

    def _read(self, seconds: float) -> None:
        data = self.child.read_nonblocking(65_536, timeout=seconds)
        self.written += data
        self.stream.feed(data)

    @property
    def modes(self) -> list[object]:
        """Of the terminal: whether it echoes, what Ctrl-C does."""
        return list(termios.tcgetattr(self.child.child_fd))

    @property
    def left_clean(self) -> bool:
        """Whether the cursor is shown, and what is written next has no colour."""
        cursor = self.screen.cursor
        return not cursor.hidden and cursor.attrs == self.screen.default_char

    def ended(self) -> int:
        """The exit code, once the program has ended by itself."""
        while True:
            try:
                self._read(PATIENCE)
            except pexpect.EOF:
                break
        return int(self.child.wait())
