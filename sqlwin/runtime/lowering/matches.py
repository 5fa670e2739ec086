"""A MatchRecognize to the operator that runs it."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from sqlwin.kernels.folds import Fold
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.matches.conditions import Condition
from sqlwin.operators.matches.matching import Matching
from sqlwin.operators.matches.operator import PatternMatcher
from sqlwin.operators.matches.reading import FoldTerm, Reading
from sqlwin.patterns import Navigation
from sqlwin.plan.ir.matches import Condition as Planned
from sqlwin.plan.ir.matches import MatchRecognize, Term, type_of
from sqlwin.plan.ir.nodes import Aggregate, Node, Scalar
from sqlwin.polars_frames import polars_schema, polars_type
from sqlwin.runtime.rows.scalars import evaluate

_NTH, _IS = "__nth", "__is"
Folding = Callable[[Aggregate, Node], Fold]


@dataclass(frozen=True)
class Predicate:
    """A condition over terms. A line for which it cannot be computed does not fulfil it."""

    scalar: Scalar

    def __call__(self, terms: pl.DataFrame) -> pl.Series:
        frame = terms.with_row_index(_NTH)
        done = evaluate(frame, ((_IS, self.scalar),), keep=(_NTH,)).frame
        found = frame.select(_NTH).join(done, on=_NTH, how="left", maintain_order="left")
        return found[_IS]


def matcher(
    window: MatchRecognize, stream: str, folding: Folding, update_before: bool, weighted: bool
) -> PatternMatcher:
    types = {column.name: column.type for column in window.input.schema}
    conditions = tuple(_condition(each, window, folding) for each in window.conditions)
    return PatternMatcher(
        stream,
        polars_schema(window.input.schema),
        window.partition,
        Matching(window.pattern, conditions, window.after, window.within, window.all_rows),
        _reading(window.measures, window, folding),
        tuple(polars_type(type_of(term, types)) for term in window.measures),
        window.policy,
        update_before,
        window.kept,
        weighted,
    )


def _condition(planned: Planned, window: MatchRecognize, folding: Folding) -> Condition:
    reading = _reading(planned.terms, window, folding)
    return Condition(planned.variable, Predicate(planned.predicate), reading, planned.of_rows)


def _reading(terms: tuple[Term, ...], window: MatchRecognize, folding: Folding) -> Reading:
    return Reading(
        tuple(
            term
            if isinstance(term, Navigation)
            else FoldTerm(
                folding(term.aggregate, window.input), term.variable, term.members, term.final
            )
            for term in terms
        )
    )
