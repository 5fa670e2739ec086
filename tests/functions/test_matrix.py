"""Scalar expressions have Spark's values, types and errors; see record.py and compare.py.

Subjects come under `HELD` when the last difference in them is gone.
"""

from __future__ import annotations

import pytest

from tests.functions.compare import compared, report

HELD: tuple[str, ...] = ()
"""Subjects without any difference."""
INEXACT = ("sin", "cos", "tan", "exp", "log", "ln", "pow", "cbrt", "hypot", "asin", "acos", "atan")
"""Functions whose last digit is the platform's: they may be `near`."""


@pytest.mark.parametrize("subject", HELD)
def test_as_in_spark(subject: str) -> None:
    different = [
        "\n".join(report(case, theirs, ours, found, rows=3))
        for case, theirs, ours, found in compared(subject)
        if found.kind not in _allowed(case.text)
    ]
    assert not different, "\n" + "\n".join(different)


def _allowed(text: str) -> tuple[str, ...]:
    inexact = any(f"{name}" in text.lower() for name in INEXACT)
    return ("same", "near") if inexact else ("same",)
