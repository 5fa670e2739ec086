"""What every test shares: one Spark for the session, and how long properties search."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# "ci" draws the same examples each time, so that a red run is red again. "long"
# searches: HYPOTHESIS_PROFILE=long make test ARGS=tests/kernels
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,  # the first call of a kernel pays for imports
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "long",
    deadline=None,
    max_examples=5_000,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need Spark run one after the other, and share one where they can."""
    for item in items:
        asked = getattr(item, "fixturenames", ())
        if item.get_closest_marker("spark") or "spark" in asked:
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One Spark of two cores for the session: a start costs seconds."""
    from sqlwin.spark.session import local_session  # here: only these tests need Java

    session = local_session(2)
    yield session
    session.stop()
