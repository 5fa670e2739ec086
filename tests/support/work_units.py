"""How two workers share the tests: as `loadgroup` does it, in fewer and cheaper steps.

The hosts of a golden are one unit of work, so that one worker binds its query for all of them;
of the files of many tests, some tests that follow each other are one. A unit that is done is
forgotten: xdist would count all of them anew with each test, and 18,000 tests cost it a minute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController

MANY = 100
"""Tests of a file, above which they go to a worker by the chunk; those of others take longer."""
CHUNK = 16
GOLDEN = "tests/golden/test_goldens.py::test_golden["


class WorkUnits(LoadGroupScheduling):
    """units: of each test the name of its unit."""

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        if not self.registered_collections:
            self.units = units(collection)
        super().add_node_collection(node, collection)
        self.registered_collections[node] = Indexed(collection)

    def _split_scope(self, nodeid: str) -> str:
        return self.units[nodeid]

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        super().mark_test_complete(node, item_index, duration)
        unit = self.units[self.registered_collections[node][item_index]]
        if all(self.assigned_work[node][unit].values()):
            del self.assigned_work[node][unit]


class Indexed(list[str]):
    """A list that need not be searched."""

    def __init__(self, given: Sequence[str]) -> None:
        super().__init__(given)
        self.places = {each: place for place, each in enumerate(given)}

    def index(self, value: str, *_: object) -> int:
        return self.places[value]


def units(collection: Sequence[str]) -> dict[str, str]:
    """
    >>> golden = "tests/golden/test_goldens.py::test_golden[hop/a-b"
    >>> list(units([f"{golden}-reference]", f"{golden}-one row at a time]"]).values())
    ['hop/a-b', 'hop/a-b']
    >>> units(["tests/a.py::test_a[1]", "tests/b.py::test_b@spark"])
    {'tests/a.py::test_a[1]': 'tests/a.py::test_a[1]', 'tests/b.py::test_b@spark': 'spark'}
    >>> many = [f"tests/a.py::test_a[{number}]" for number in range(MANY + 1)]
    >>> max(Counter(units(many).values()).values()) == CHUNK
    True
    """
    tests, seen = Counter(map(_file, collection)), Counter[str]()
    found = {}
    for nodeid in collection:
        file = _file(nodeid)
        seen[file] += 1
        if nodeid.rfind("@") > nodeid.rfind("]"):
            found[nodeid] = nodeid.rsplit("@", 1)[1]
        elif nodeid.startswith(GOLDEN):
            found[nodeid] = nodeid.removeprefix(GOLDEN).rsplit("-", 1)[0]
        elif tests[file] > MANY:
            found[nodeid] = f"{file} {seen[file] // CHUNK}"
        else:
            found[nodeid] = nodeid
    return found


def _file(nodeid: str) -> str:
    return nodeid.split("::", 1)[0]
