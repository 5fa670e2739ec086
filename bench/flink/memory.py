"""The most memory that all processes of a run had at one time, as Linux accounts for it.

Shared pages count once (PSS), so forked Python workers are not counted in full each. A process
belongs to a run by a variable of its environment, which its children inherit even where their
parent has ended. None where there is no /proc.
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

MARK = "SQLWIN_BENCH_RUN"
PROC = Path("/proc")
EVERY_SECONDS = 0.4


@dataclass
class Peak:
    """bytes: None until a process of the run was seen."""

    bytes: int | None = None

    def see(self, now: int) -> None:
        if now:
            self.bytes = max(self.bytes or 0, now)


@contextmanager
def watched() -> Iterator[Peak]:
    """The peak of all processes that are started within."""
    mark, peak, ended = uuid.uuid4().hex, Peak(), threading.Event()
    os.environ[MARK] = mark
    watch = threading.Thread(target=_watch, args=(mark, peak, ended), daemon=True)
    watch.start()
    try:
        yield peak
    finally:
        ended.set()
        watch.join()
        del os.environ[MARK]


def _watch(mark: str, peak: Peak, ended: threading.Event) -> None:
    known: dict[int, bool] = {}
    while not ended.wait(EVERY_SECONDS):
        peak.see(sum(map(_bytes, _processes(f"{MARK}={mark}".encode(), known))))


def _processes(mark: bytes, known: dict[int, bool]) -> list[int]:
    if not PROC.is_dir():
        return []
    alive = [int(path.name) for path in PROC.iterdir() if path.name.isdigit()]
    for pid in alive:
        if not known.get(pid):  # a process that has just been forked gets its environment yet
            known[pid] = mark in _read(pid, "environ")
    return [pid for pid in alive if known[pid]]


def _bytes(pid: int) -> int:
    for line in _read(pid, "smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def _read(pid: int, name: str) -> bytes:
    with suppress(OSError):
        return (PROC / str(pid) / name).read_bytes()
    return b""
