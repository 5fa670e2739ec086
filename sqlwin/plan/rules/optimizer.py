"""Rules, run until none changes the plan; they keep normal form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlwin.plan.ir.nodes import Join, Node, Scan, StaticScan, WindowAggregate, WindowRank
from sqlwin.plan.rules.prune_columns import prune_columns

Rule = Callable[[Node], Node]
RULES: tuple[Rule, ...] = (prune_columns,)
ROUNDS = 100


def optimize(plan: Node, rules: tuple[Rule, ...] = RULES) -> Node:
    """RuntimeError where the rules undo each other for ever."""
    for _ in range(ROUNDS):
        better = plan
        for rule in rules:
            better = everywhere(rule, better)
        if better == plan:
            return plan
        plan = better
    names = ", ".join(rule.__name__ for rule in rules)
    raise RuntimeError(f"the plan did not converge in {ROUNDS} rounds of {names}")


def everywhere(rule: Rule, node: Node) -> Node:
    """The rule at each node, from the top down."""
    made = rule(node)
    if isinstance(made, Scan | StaticScan):
        return made
    if isinstance(made, Join):
        return replace(made, left=everywhere(rule, made.left), right=everywhere(rule, made.right))
    below = everywhere(rule, made.input)
    if isinstance(made, WindowRank):
        assert isinstance(below, WindowAggregate), rule
        return replace(made, input=below)
    return replace(made, input=below)
