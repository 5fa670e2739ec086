"""A Filter over a Project filters first: fewer rows are computed."""

from __future__ import annotations

from sqlwin.plan.nodes import Filter, Node, Project
from sqlwin.plan.rules.substitute import substitute


def push_filter_below_project(node: Node) -> Node:
    if not isinstance(node, Filter) or not isinstance(node.input, Project):
        return node
    below = substitute(node.predicate, dict(node.input.columns))
    return Project(Filter(node.input.input, below), node.input.columns)
