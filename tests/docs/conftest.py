"""What the docs show of Python functions in a text imports them from `math`."""

from __future__ import annotations

import pytest

from sqlwin.python_modules import VARIABLE


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "math")
