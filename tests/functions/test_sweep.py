"""No call of an entry ends in an error of Python's; see sweep.py."""

from __future__ import annotations

import pytest

from tests.functions.sweep import found


@pytest.mark.long
def test_up_to_one_argument() -> None:
    assert found(most=1) == {}


@pytest.mark.long
def test_up_to_three_arguments() -> None:
    """A sixteenth of the calls; all of them by `make test-long`."""
    assert found(evaluate=True, every=16) == {}
