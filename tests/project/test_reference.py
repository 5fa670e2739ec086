"""The reference takes nothing from what is tested against it, or one mistake would pass both."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[1] / "reference"
FAST = (
    "sqlwin.kernels",
    "sqlwin.operators",
    "sqlwin.state",
    "sqlwin.runtime.lowering.windows",
    "sqlwin.runtime.lowering.joins",
    "sqlwin.runtime.lowering.lower",
    "sqlwin.spark",
)
SHARED = {
    "sqlwin.operators.contract",
    "sqlwin.operators.store_spec",
    "sqlwin.operators.emitter.changes",
    "sqlwin.state.contract",
}
"""What a host calls and reads, the columns of a change, and the name of a horizon."""


def imported(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def taken(text: str) -> list[str]:
    """Modules of the fast side that a module imports."""
    fast = [name for name in imported(text) if any(_within(name, each) for each in FAST)]
    return [name for name in fast if not any(_within(name, each) for each in SHARED)]


def _within(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


@pytest.mark.parametrize(
    "module", sorted(REFERENCE.rglob("*.py")), ids=lambda path: str(path.relative_to(REFERENCE))
)
def test_the_reference_is_independent(module: Path) -> None:
    assert taken(module.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            "from sqlwin.runtime.lowering.lower import lower",
            ["sqlwin.runtime.lowering.lower", "sqlwin.runtime.lowering.lower.lower"],
        ),
        ("from sqlwin.kernels import frames", ["sqlwin.kernels", "sqlwin.kernels.frames"]),
        ("from sqlwin.operators.contract import Stores", []),
        ("from sqlwin.runtime.lowering.lowered import Lowered", []),
    ],
)
def test_what_is_taken_is_found(line: str, found: list[str]) -> None:
    assert taken(line) == found
