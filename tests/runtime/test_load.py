"""The rate, the keys and the width that EXPLAIN is given."""

from __future__ import annotations

import re

import pytest

from sqlwin.errors import InputError
from sqlwin.runtime.size.load import Load, load

RATES = {
    "1000/s": 1_000.0,
    "5e4/min": 50_000 / 60,
    "2/h": 2 / 3_600,
    "86400/day": 1.0,
    " 1.5 / s": 1.5,
}


@pytest.mark.parametrize(("text", "rate"), RATES.items())
def test_rates(text: str, rate: float) -> None:
    assert load(text, "1").rate == pytest.approx(rate)


@pytest.mark.parametrize(
    "text", ["1000", "", "/s", "s", "1000/", "0/s", "-5/s", "nan/s", "inf/s", "1/sec", "1e3/s/s"]
)
def test_an_error_for_a_rate_names_the_legal_forms(text: str) -> None:
    wrong = f"--rate {text!r} is not rows a unit of time; legal: 1000/s, 5e4/min, 2/h, 10/day"
    with pytest.raises(InputError, match=f"^{re.escape(wrong)}$"):
        load(text, "1")


@pytest.mark.parametrize("keys", ["0", "-1", "many", "nan", "inf", ""])
def test_keys_are_a_number_from_1_on(keys: str) -> None:
    with pytest.raises(InputError, match=r"^--keys .* is not a number from 1 on; legal: 1, 5000"):
        load("1/s", keys)


def test_width() -> None:
    assert load("1/s", "1e6") == Load(1.0, 1e6, 16.0)
    assert load("1/s", "1", "0").width == 0
    with pytest.raises(InputError, match=r"^--width 'wide' is not a number from 0 on; legal: 16"):
        load("1/s", "1", "wide")
