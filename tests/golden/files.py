"""The goldens of this folder."""

from __future__ import annotations

from pathlib import Path

from sqlwin.testing.golden import SUFFIX, Golden, load

HOME = Path(__file__).parent


def goldens() -> list[Golden]:
    """Every golden, by name."""
    return [load(path, HOME) for path in sorted(HOME.rglob(f"*{SUFFIX}"))]


def path_of(golden: Golden) -> Path:
    return HOME / f"{golden.name}{SUFFIX}"
