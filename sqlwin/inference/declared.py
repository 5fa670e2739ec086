"""Files that FROM names, as streams with their inferred columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlwin.plan.ir.nodes import Stream
from sqlwin.sql import script


def inferred_from(base: Path) -> Callable[[str, str], Stream]:
    """What `script` declares a file of FROM by. base: what paths are relative to."""

    def stream(path: str, name: str) -> Stream:
        from sqlwin.inference.infer import infer  # by need

        (made,) = script(infer(path, base).ddl(name)).streams
        return made

    return stream
