"""The windows: where a row goes. A module for each kind."""

from __future__ import annotations

from enum import Enum


class Unit(Enum):
    """What a window's size is measured in."""

    RANGE = "RANGE"
    ROWS = "ROWS"
    GROUPS = "GROUPS"
    """Of peers, which are equal in all of ORDER BY: of frames of OVER alone."""
    SESSION = "SESSION"
    """Of pauses between rows: of frames of OVER alone."""
