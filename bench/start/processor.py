"""Seconds of the processor that a command of a checkout takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).parents[2]


def seconds(checkout: Path, arguments: list[str]) -> float:
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=checkout,  # which Python looks in first
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{arguments[:4]} of {checkout} failed")
    return used.ru_utime + used.ru_stime
