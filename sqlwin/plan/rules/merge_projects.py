"""Project over Project is one Project."""

from __future__ import annotations

from sqlwin.plan.nodes import Node, Project
from sqlwin.plan.rules.substitute import substitute


def merge_projects(node: Node) -> Node:
    if not isinstance(node, Project) or not isinstance(node.input, Project):
        return node
    below = dict(node.input.columns)
    columns = tuple((name, substitute(scalar, below)) for name, scalar in node.columns)
    return Project(node.input.input, columns)
