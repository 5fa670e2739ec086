"""EXPLAIN with the stores that the operators of each stage declare."""

from __future__ import annotations

from collections.abc import Sequence

from sqlwin.plan.explain import query as plans
from sqlwin.plan.explain.query import DeclaredStores
from sqlwin.plan.ir.statements import Query, Script
from sqlwin.runtime.lowering.chain import chain


def explain(query: Query) -> str:
    return plans.explain(query, stores_of(query))


def explain_measured(query: Query, did: Sequence[str]) -> str:
    """did: what the operator of each stage did, those below first."""
    plans_of = [stage.query.plan for stage in chain(query).stages]
    return plans.explain(query, stores_of(query), dict(zip(plans_of, did, strict=True)))


def explain_script(script: Script) -> str:
    """Every query of a script, those to run and those after EXPLAIN."""
    queries = [s for s in script.statements if isinstance(s, Query)]
    return "\n\n".join(explain(query) for query in queries)


def stores_of(query: Query) -> DeclaredStores:
    """What a task of it opens, by the plan of each stage."""
    return {
        stage.query.plan: tuple(spec.explained for spec in stage.stores)
        for stage in chain(query).stages
    }
