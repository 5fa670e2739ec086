"""Ctrl-C: the first ends a run in good order, the next at once; either with one line and 130.
Of the shell it ends a statement, and the next goes on.

SIGTERM ends a run after its batch, a second one at once; so does Ctrl-C one of the Python API that
follows.

What is stored is whole at any moment, so a process may end between any two of its steps. A
second KeyboardInterrupt would fall into what the first one closes, or into the interpreter's
own end, and end in a traceback.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM
Handler = Callable[[int, FrameType | None], object] | signal.Handlers
_CURSOR = "\x1b[?25h\n"
"""Shows the cursor, which a view of the run has hidden, on a line below it."""


@contextmanager
def interruptible(line: str) -> Iterator[None]:
    """line: for stderr, where the second Ctrl-C comes before the first was answered. Nothing is
    changed where somebody else takes care of Ctrl-C."""
    own = threading.current_thread() is threading.main_thread()
    if not own or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def second(number: int, frame: FrameType | None) -> None:
        os.write(2, f"{_CURSOR if os.isatty(2) else ''}{line}\n".encode())
        os._exit(INTERRUPTED)

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, second)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def raised_once() -> None:
    """Called once everything is imported: polars has put a handler of its own before Python's, and
    what it computes raises KeyboardInterrupt too. One Ctrl-C would raise twice, the second time
    within what the first one closes."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is threading.main_thread() and handler is not None:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def interruptible_statements() -> Iterator[Callable[[], None]]:
    """What is called where a statement begins: the first Ctrl-C from there on raises
    KeyboardInterrupt, and further ones do not fall into what it closes. In the main thread, which
    alone is interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    def begins() -> None:
        signal.signal(signal.SIGINT, first)

    before = signal.getsignal(signal.SIGINT)
    try:
        begins()
        yield begins
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def terminations() -> Iterator[threading.Event]:
    """Set by SIGTERM; the next one has its default effect. Nothing is changed where somebody else
    takes care of it, or outside the main thread, which alone gets signals."""
    with _first_of(signal.SIGTERM, signal.SIG_DFL) as terminated:
        yield terminated


@contextmanager
def interruptions() -> Iterator[threading.Event]:
    """Set by Ctrl-C, likewise: the next one raises KeyboardInterrupt."""
    with _first_of(signal.SIGINT, signal.default_int_handler) as interrupted:
        yield interrupted


@contextmanager
def _first_of(number: signal.Signals, usual: Handler) -> Iterator[threading.Event]:
    arrived = threading.Event()
    own = threading.current_thread() is threading.main_thread()
    if not own or signal.getsignal(number) is not usual:
        yield arrived
        return

    def first(_: int, frame: FrameType | None) -> None:
        arrived.set()
        signal.signal(number, usual)

    signal.signal(number, first)
    try:
        yield arrived
    finally:
        signal.signal(number, usual)


def acknowledged() -> None:
    """Nothing is left to say: Ctrl-C ends the process where it is, in its own end."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
