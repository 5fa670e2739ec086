"""The window kind that docs/developing.md adds works as it is shown there: its code is run, and its
golden on every host of this process. The files that the code belongs in are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlwin.runtime.lowering.windows import OPERATORS
from sqlwin.sql.windows.window_functions import WINDOW_FUNCTIONS
from sqlwin.testing.checks import differences
from sqlwin.testing.golden import parse
from tests.golden.hosts import HOSTS

REPO = Path(__file__).parents[2]
PAGE = REPO / "docs" / "developing.md"
TABLES = (OPERATORS, WINDOW_FUNCTIONS)


def shown(kind: str) -> list[str]:
    """The texts behind the fences of this kind."""
    return re.findall(rf"```{kind} new-window\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def added() -> Iterator[None]:
    """The window kind is there, and gone again afterwards."""
    before = [dict(table) for table in TABLES]
    code = "\n".join(shown("python"))
    try:
        exec(compile(code, str(PAGE), "exec"), {"__name__": "new_window"})
        yield
    finally:
        for table, entries in zip(TABLES, before, strict=True):
            table.clear()
            table.update(entries)  # type: ignore[arg-type]


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize(
    "host", [h for h in HOSTS if not h.batch and h.skip is None], ids=lambda host: host.name
)
def test_its_golden_holds(host: object) -> None:
    (text,) = shown("golden")
    golden = parse("sample", text)
    assert not differences(golden, host.run([golden])[golden.name])  # type: ignore[attr-defined]


def test_its_code_belongs_in_files_that_are_there() -> None:
    files = re.findall(r"^# (\S+\.py)$", "\n".join(shown("python")), re.M)
    assert len(files) == len(shown("python"))
    assert [name for name in files if not (REPO / name).is_file()] == []
