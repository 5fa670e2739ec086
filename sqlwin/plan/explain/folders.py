"""EXPLAIN of partitioned sources: which folders are read, where WHERE says something of them."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.plan.ir.nodes import Node
from sqlwin.plan.properties.folders import Conditions, folders_read, why_all_folders


def folders(plan: Node) -> Iterator[str]:
    """A line of each source whose folders are in a WHERE."""
    for stream, conditions in folders_read(plan).items():
        yield f"{stream.name} reads the folders where {conditions_text(conditions)}"
    for stream, why in why_all_folders(plan).items():
        yield f"{stream.name} reads all folders: {why}"


def conditions_text(conditions: Conditions) -> str:
    return " or ".join(dict.fromkeys(each.sql for each in conditions))
