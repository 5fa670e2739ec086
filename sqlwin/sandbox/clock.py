"""How long one call may take: DuckDB is interrupted when its thread has used its time.

Time is that of the thread's processor, so that a busy machine is slow and not broken. One
thread for all watches; it sleeps where nobody is watched. DuckDB looks up between the pieces
that rows come in, see `bounds.ROWS`.

>>> from sqlwin.sandbox.locked import running
>>> con, steps = running(), "repeat('a', 900)"
>>> with watched(con, seconds=30):
...     con.execute(f"SELECT levenshtein({steps}, {steps})").fetchall()
[(0,)]
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING

from sqlwin.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import duckdb


LOOK = 0.25
"""Seconds between two looks."""


class OutOfTime(Exception):
    """A call was interrupted, since it took too long."""


@dataclass(eq=False)
class Watch:
    """until: the thread's clock at which it is interrupted."""

    con: duckdb.DuckDBPyConnection
    until: float
    clock: int | None
    over: bool = False

    def look(self) -> None:
        if _now(self.clock) >= self.until:
            self.over = True
            self.con.interrupt()


@dataclass
class Watchman:
    """The thread that looks, which lives as long as there is something to watch."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    watches: list[Watch] = field(default_factory=list)
    awake: threading.Event = field(default_factory=threading.Event)
    ended: bool = False
    process: int = field(default_factory=os.getpid)

    def begin(self) -> None:
        thread = threading.Thread(target=self._look, name="sqlwin-clock", daemon=True)
        thread.start()
        atexit.register(self._end, thread)

    def _end(self, thread: threading.Thread) -> None:
        """Before the interpreter takes down what the thread runs on."""
        self.ended = True
        self.awake.set()
        if self.process == os.getpid():
            thread.join(4 * LOOK)

    def add(self, watch: Watch) -> None:
        with self.lock:
            self.watches.append(watch)
        self.awake.set()

    def remove(self, watch: Watch) -> None:
        with self.lock:
            self.watches.remove(watch)

    def _look(self) -> None:
        while not self.ended:
            self.awake.wait()
            time.sleep(LOOK)
            with self.lock:
                if not self.watches:
                    self.awake.clear()
                for watch in self.watches:
                    watch.look()


_one: list[Watchman] = []
_making = threading.Lock()


def _watchman() -> Watchman:
    """This process's; a child of `fork` has no threads but its own."""
    with _making:
        if not _one or _one[0].process != os.getpid():
            _one[:] = [Watchman()]
            _one[0].begin()
        return _one[0]


@contextmanager
def watched(con: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """OutOfTime where what is done on `con` takes longer than `seconds` of this thread."""
    watchman = _watchman()
    clock = _thread_clock()
    watch = Watch(con, _now(clock) + seconds, clock)
    watchman.add(watch)
    try:
        yield
    except Exception:
        if watch.over:
            raise OutOfTime from None
        raise
    finally:
        watchman.remove(watch)


def _thread_clock() -> int | None:
    """This thread's own; None where the system has none, and the wall's is taken."""
    clock = getattr(time, "pthread_getcpuclockid", None)
    return None if clock is None else clock(threading.get_ident())


def _now(clock: int | None) -> float:
    return time.monotonic() if clock is None else time.clock_gettime(clock)
