"""Tests of a server that cannot be had here are skipped, with one loud line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tools.servers.unavailable import Unavailable


@contextmanager
def skipping() -> Iterator[None]:
    try:
        yield
    except Unavailable as missing:
        pytest.skip(f"SKIPPED, AND NOTHING TESTED: {missing}")
