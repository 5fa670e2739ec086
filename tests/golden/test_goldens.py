"""Every golden on every host.

With the long tests: nine tenths of them on Spark, and most runs on hosts that disturb one.
"""

from __future__ import annotations

from zlib import crc32

import pytest

from sqlwin.testing.checks import differences
from sqlwin.testing.golden import Golden
from sqlwin.testing.outcome import Outcome
from tests.golden.files import goldens
from tests.golden.hosts import DISTURBING, EMBEDDED, HOSTS, Host
from tests.golden.trace import recorded, untraced

EVERY = goldens()
OUTCOMES = pytest.StashKey[dict[str, Outcome] | str]()
MOST = 8
"""Steps of a golden that is among the first on Spark."""


def _cases() -> list[object]:
    return [
        pytest.param(golden, host, id=f"{golden.name}-{host.name}", marks=_marks(golden, host))
        for golden in EVERY
        for host in HOSTS
    ]


def _marks(golden: Golden, host: Host) -> list[pytest.MarkDecorator]:
    # the first of them waits for all, and machines differ
    marks = [pytest.mark.spark, pytest.mark.timeout(3_000)] if host.batch else []
    if not (_chosen(golden) if host.batch else _soon(golden, host)):
        marks.append(pytest.mark.long)
    if host.skip is not None:
        return [*marks, pytest.mark.skip(reason=host.skip)]
    if host.name in golden.gaps:
        # strict: a gap that has closed must leave the file
        marks.append(pytest.mark.xfail(reason=golden.gaps[host.name], strict=True))
    return marks


def _chosen(golden: Golden) -> bool:
    """A tenth, by name: a new golden moves no other. A step is a batch of all that run together, so
    those of many steps are with the long ones."""
    return crc32(golden.name.encode()) % 9 == 0 and len(golden.steps()) <= MOST


def _soon(golden: Golden, host: Host) -> bool:
    """All hosts that do not disturb it; of every other golden one that does, by name."""
    chosen = crc32(golden.name.encode()) // 10 % (2 * len(DISTURBING))
    return host not in DISTURBING or host in DISTURBING[chosen : chosen + 1]


def _together(host: Host, session: pytest.Session) -> dict[str, Outcome] | str:
    """What those of the session gave, or why they gave nothing: that is not to be had a thousand
    times."""
    if OUTCOMES not in session.stash:
        asked = [each.callspec.params for each in session.items if hasattr(each, "callspec")]
        goldens = [params["golden"] for params in asked if params.get("host") is host]
        try:
            session.stash[OUTCOMES] = host.run(goldens)
        except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001  the second: a timeout
            session.stash[OUTCOMES] = repr(failure)
    return session.stash[OUTCOMES]


def _outcome(golden: Golden, host: Host, session: pytest.Session) -> Outcome:
    if not host.batch:
        return host.run([golden])[golden.name]
    outcomes = _together(host, session)
    if isinstance(outcomes, str):
        raise AssertionError(f"{host.name} did not get through the goldens: {outcomes}")
    return outcomes[golden.name]


@pytest.mark.parametrize(("golden", "host"), _cases())
def test_golden(golden: Golden, host: Host, request: pytest.FixtureRequest) -> None:
    outcome = _outcome(golden, host, request.session)
    found = differences(golden, outcome)
    if host is EMBEDDED and not found:
        found = untraced(golden, outcome)
    assert not found, "\n\n".join([golden.head["title"], *found])


@pytest.mark.parametrize("golden", EVERY, ids=lambda golden: golden.name)
def test_golden_says_what_it_shows_and_why(golden: Golden) -> None:
    assert golden.head["title"]
    assert golden.head["why"]
    assert set(golden.gaps) <= {host.name for host in HOSTS}


def test_traces_are_of_goldens() -> None:
    assert set(recorded()) <= {golden.name for golden in EVERY}
