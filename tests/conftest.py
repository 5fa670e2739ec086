"""What every test shares: one Spark for the session, and how long properties search."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.internal.conjecture.providers import HypothesisProvider

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A shell ignores Ctrl-C for what it starts in the background, and tests would hand that on.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Of a log of the JVM, in a report.
LINES = 40
# How many examples a property draws; all but "long" draw the same ones each time, so that a red
# run is red again. "hours" is that of make test-long, and "long" searches:
# HYPOTHESIS_PROFILE=long make test ARGS=tests/kernels
for name, examples in {"quick": 4, "more": 12, "hours": 100, "long": 5_000}.items():
    settings.register_profile(
        name,
        derandomize=name != "long",
        deadline=None,  # the first call of a kernel pays for imports
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
# It would draw constants of whatever modules are there: another draw with each new module, and
# instants that no calendar has.
HypothesisProvider._maybe_draw_constant = lambda *_, **__: None  # type: ignore[assignment]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays: it is not searched for cycles, which takes half a second each time,
    now or while the tests run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_sessionfinish() -> None:
    gc.unfreeze()  # else libraries report what they find at the end as leaks


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need Spark run one after the other, and share one where they can, but those
    that start it in processes of their own: `spark(processes=True)`.

    Properties are marked as drawn: they run again where more examples are asked for. What takes
    hours with others of its kind is long too.
    """
    for item in items:
        if is_hypothesis_test(getattr(item, "function", None)):
            item.add_marker(pytest.mark.drawn)
        if item.get_closest_marker("hours"):
            item.add_marker(pytest.mark.long)
        parsed = getattr(item, "fixturenames", ())
        marker = item.get_closest_marker("spark")
        if "spark" in parsed or (marker and not marker.kwargs.get("processes")):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getoption("dist") != "loadgroup":
        return None
    from tests.support.work_units import WorkUnits  # here: only the process of all workers needs it

    return WorkUnits(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test of Spark that failed says what its JVM wrote last, and how it crashed if it did."""
    report = yield
    if report.failed and item.get_closest_marker("xdist_group"):
        report.sections += _last_words()
    return report


def _last_words() -> Iterator[tuple[str, str]]:
    from sqlwin.spark.session.local import log_file

    for file in (log_file(), *Path.cwd().glob("hs_err_pid*.log")):
        if file.exists() and (lines := file.read_text("utf-8", "replace").splitlines()):
            yield (
                file.name,
                "\n".join(lines[:LINES] if file.name.startswith("hs") else lines[-LINES:]),
            )


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One Spark of two cores for the session: a start costs seconds."""
    from sqlwin.spark.session.local import local_session  # here: only these tests need Java

    session = local_session(2)
    yield session
    session.stop()


@pytest.fixture
def recording(spark: SparkSession) -> Iterator[SparkSession]:
    """A session beside it, with the settings that Spark's answers are recorded with."""
    from tests.functions.oracle import session

    with session() as beside:
        yield beside
