"""Goldens as tests of pytest: with `sqlwin_goldens = *.golden` in its settings, it collects them.

`--sqlwin-engine` says on which host they run, one or both; `--sqlwin-update` writes what they
expect. Nothing of sqlwin is imported before a golden is collected, for pytest loads this in every
project beside which sqlwin is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sqlwin.testing.golden import Golden
    from sqlwin.testing.runner import Engine, Result


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("sqlwin_goldens", "files that are goldens of sqlwin, as *.golden", "args", [])
    group = parser.getgroup("sqlwin")
    group.addoption(
        "--sqlwin-engine",
        choices=("embedded", "spark", "both"),
        default="embedded",
        help="where goldens run",
    )
    group.addoption("--sqlwin-update", action="store_true", help="write what goldens expect")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> GoldenFile | None:
    patterns = parent.config.getini("sqlwin_goldens")
    if not any(fnmatch(file_path.name, pattern) for pattern in patterns):
        return None
    found: GoldenFile = GoldenFile.from_parent(parent, path=file_path)
    return found


class GoldenFile(pytest.File):
    def collect(self) -> Iterator[GoldenItem]:
        from sqlwin.testing.golden import load
        from sqlwin.testing.runner import ENGINES

        golden = load(self.path)
        engine_option = self.config.getoption("--sqlwin-engine")
        for engine in ENGINES if engine_option == "both" else (engine_option,):
            yield GoldenItem.from_parent(self, name=engine, golden=golden, engine=engine)


class GoldenFailed(Exception):
    """What is not as the golden says; the traceback would say nothing."""


class GoldenItem(pytest.Item):
    """A golden on one host."""

    def __init__(self, *, golden: Golden, engine: Engine, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.golden, self.engine = golden, engine

    def runtest(self) -> None:
        from sqlwin.testing.runner import update

        if self.config.getoption("--sqlwin-update"):
            update(self.golden)
            return
        result = _results(self.session, self.engine, self)[id(self.golden)]
        if result.status == "failed":
            raise GoldenFailed(result.why)
        if result.status == "gap":
            pytest.xfail(self.golden.gaps[self.engine])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, GoldenFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        title = self.golden.head.get("title", self.golden.name)
        return self.path, 0, f"{title} [{self.engine}]"


RESULTS = pytest.StashKey[dict[int, "Result"]]()


def _results(session: pytest.Session, engine: Engine, item: GoldenItem) -> dict[int, Result]:
    """By identity of the golden; on Spark all run at the first of them, for a start takes long."""
    from sqlwin.testing.runner import run

    if engine == "embedded":
        (result,) = run([item.golden], engine)
        return {id(item.golden): result}
    if RESULTS not in session.stash:
        items = [each for each in session.items if isinstance(each, GoldenItem)]
        goldens = [each.golden for each in items if each.engine == engine]
        session.stash[RESULTS] = {id(each.golden): each for each in run(goldens, engine)}
    return session.stash[RESULTS]
