"""The list of functions by module is what the modules have."""

from importlib import import_module

import pytest

from sqlwin.functions.rooms import MORE, NAMES
from sqlwin.functions.table import TABLE, rooms


def _listed(texts: str) -> list[str]:
    return [name.strip() for name in texts.split(",")]


@pytest.mark.parametrize("module", NAMES)
def test_names_of_a_module(module: str) -> None:
    found = import_module(f"sqlwin.functions.{module}")
    assert _listed(NAMES[module]) == [name for each in found.FUNCTIONS for name in each.names]


@pytest.mark.parametrize("module", NAMES)
def test_overloads_for_other_modules(module: str) -> None:
    found = import_module(f"sqlwin.functions.{module}")
    assert _listed(MORE[module]) if module in MORE else not getattr(found, "MORE", None)
    assert module not in MORE or _listed(MORE[module]) == list(found.MORE)


def test_every_room_is_listed() -> None:
    functions = [function for room in rooms() for function in room.FUNCTIONS]
    assert {name for function in functions for name in function.names} <= set(TABLE)
    assert all(TABLE[function.name].names == function.names for function in functions)
