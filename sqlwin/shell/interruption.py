"""Ctrl-C while a query of the shell runs: the query ends, and the shell does not.

What the first one closes is not fallen into by a second: that one waits for the prompt.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Iterator[None]:
    """KeyboardInterrupt at the first Ctrl-C; in the main thread, which alone is interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
