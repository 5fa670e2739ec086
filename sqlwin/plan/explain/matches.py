"""EXPLAIN of MATCH_RECOGNIZE: its pattern, what it reads, and why its state is bounded or not."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.instants import format_duration
from sqlwin.patterns import Navigation, longest, spelled
from sqlwin.plan.ir.matches import MatchRecognize, Term, looks_back


def line(node: MatchRecognize) -> str:
    by = f" by [{', '.join(node.partition)}]" if node.partition else ""
    measures = ", ".join(f"{term.name} = {_term(term)}" for term in node.measures)
    return f"MatchRecognize ({spelled(node.pattern)}){by}{f' [{measures}]' if measures else ''}"


def _term(term: Term) -> str:
    """
    >>> _term(Navigation("x", "price", "a", offset=1, back=2)), _term(Navigation("y", None))
    ('prev(last(a.price, 1), 2)', 'classifier()')
    """
    if not isinstance(term, Navigation):
        call = term.aggregate
        of = f"{term.variable}." if term.variable else ""
        where = f" where {of}{call.where}" if call.where else ""
        args = ", ".join(of + arg for arg in call.args) or f"{of}*"
        return f"{call.function}({'distinct ' * call.distinct}{args}){where}"
    if term.column is None:
        return "classifier()"
    value = term.column if term.variable is None else f"{term.variable}.{term.column}"
    row = f"{'first' if term.first else 'last'}({value}{f', {term.offset}' * (term.offset > 0)})"
    return f"prev({row}, {term.back})" if term.back else row


def facts(node: MatchRecognize) -> Iterator[str]:
    """Its clauses, each on a line."""
    yield f"Partition: {', '.join(node.partition) or 'none: all rows are one'}"
    yield f"Pattern: {spelled(node.pattern)}"
    for condition in node.conditions:
        known = "of each row" if condition.of_rows else "of the match so far"
        yield f"Define: {condition.variable} as {condition.written}, {known}"
    after = node.after
    to = f"{after.skip.value} {after.variable}" if after.variable else after.skip.value
    yield f"After a match: skip {to}"
    if node.within is not None:
        yield f"Within: {format_duration(node.within)} from the first row of a match to its last"


def full(node: MatchRecognize) -> str:
    known = "when no row that may come can change it or a match before it"
    if node.within is None:
        return known
    return f"{known}, {format_duration(node.within)} after its first row at the latest"


def warnings(node: MatchRecognize) -> Iterator[str]:
    """What bounds its state, or does not."""
    if node.within is None and longest(node.pattern) is None:
        yield "without WITHIN a match may stay open for ever, so state has no bound"
    if node.policy.retain is None:
        yield "a match is corrected however late, so state grows until a RETAIN is given"
    back = looks_back(node)
    if back and node.partition:
        rows = "the last row of every partition is" if back == 1 else f"the last {back} rows are"
        yield f"{rows} kept for PREV{', of every partition' * (back > 1)}, so state grows with keys"
