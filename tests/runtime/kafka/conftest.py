from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support import kafka


@pytest.fixture(scope="session")
def broker() -> Iterator[kafka.Broker]:
    with kafka.running() as found:
        yield found
