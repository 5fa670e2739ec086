"""Random files, randomly damaged; `tests.runtime.damage` says what holds, and searches longer."""

from __future__ import annotations

import pytest

from tests.runtime.damage import searched


@pytest.mark.parametrize("first", range(0, 100, 25))
def test_a_line_is_decoded_as_it_is_alone(first: int) -> None:
    assert searched(range(first, first + 25)) is None
