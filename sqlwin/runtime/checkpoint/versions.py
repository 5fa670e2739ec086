"""The version of a checkpoint, and its JSON."""

from __future__ import annotations

import json
from typing import Any

from sqlwin.errors import StateError

VERSION = 5


def check_version(what: str, version: object, known: int = VERSION) -> None:
    """StateError for a version that is not known."""
    if version == known:
        return
    why = ""
    if isinstance(version, int) and version > known:
        why = ": made by a newer sqlwin"
    elif isinstance(version, int) and version > 0:
        why = (
            ": made by an older sqlwin, whose state is not read any more; "
            "start with a new store, from the first message"
        )
    raise StateError(f"{what} has version {version}, known is {known}{why}")


def parsed(what: str, data: bytes) -> dict[str, Any]:
    """JSON of a checkpoint; StateError where it is none."""
    try:
        found = json.loads(data)
    except ValueError as wrong:
        raise StateError(f"{what} is damaged: {wrong}") from wrong
    if not isinstance(found, dict):
        raise StateError(f"{what} is damaged: it is no JSON object")
    return found
