"""EXPLAIN of MATCH_RECOGNIZE: its pattern, what it reads, and why its state is bounded or not."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.instants import format_duration
from sqlwin.patterns import Navigation, longest, spelled
from sqlwin.plan.ir.matches import MatchRecognize, Term, looks_back


def line(node: MatchRecognize) -> str:
    by = f" by [{', '.join(node.partition)}]" if node.partition else ""
    measures = ", ".join(f"{term.name} = {_term(term)}" for term in node.measures)
    rows = f" all rows [{', '.join(node.kept)}]" if node.all_rows is not None else ""
    read = f" [{measures}]" if measures else ""
    return f"MatchRecognize ({spelled(node.pattern)}){by}{rows}{read}"


def _term(term: Term) -> str:
    return f"final {_read(term)}" if term.final else _read(term)


def _read(term: Term) -> str:
    """
    >>> _read(Navigation("x", "price", "a", offset=1, back=2)), _read(Navigation("y", None))
    ('prev(last(a.price, 1), 2)', 'classifier()')
    """
    if not isinstance(term, Navigation):
        call = term.aggregate
        of = f"{term.variable}." if term.variable else ""
        where = f" where {of}{call.where}" if call.where else ""
        args = ", ".join(of + arg for arg in call.args) or f"{of}*"
        return f"{call.function}({'distinct ' * call.distinct}{args}){where}"
    if term.column is None:
        return f"classifier({term.variable or ''})"
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
    for name, members in sorted(_subsets(node).items()):
        yield f"Subset: {name} = {', '.join(members)}"
    if node.all_rows is not None:
        yield f"Rows: all of a match, {node.all_rows.value}"
    after = node.after
    to = f"{after.skip.value} {after.variable}" if after.variable else after.skip.value
    yield f"After a match: skip {to}"
    if node.within is not None:
        yield f"Within: {format_duration(node.within)} from the first row of a match to its last"


def _subsets(node: MatchRecognize) -> dict[str, tuple[str, ...]]:
    """Those that are read."""
    terms = (*node.measures, *(term for each in node.conditions for term in each.terms))
    found = {term.variable: term.members for term in terms if term.members and term.variable}
    if node.after.variable and node.after.members:
        found[node.after.variable] = node.after.members
    return found


def full(node: MatchRecognize) -> str:
    known = "when no row that may come can change it or a match before it"
    if node.within is None:
        return known
    return f"{known}, {format_duration(node.within)} after its first row at the latest"


def warnings(node: MatchRecognize) -> Iterator[str]:
    """What bounds its state, or does not."""
    if node.policy.ttl is not None:
        if node.policy.retain is None or node.within is None:
            grows = "kept until its TTL is over, so a partition that never rests grows"
            yield f"all rows of a partition are {grows}"
        return
    if node.within is None and longest(node.pattern) is None:
        yield "without WITHIN a match may stay open for ever, so state has no bound"
    if node.policy.retain is None:
        yield "a match is corrected however late, so state grows until a RETAIN is given"
    back = looks_back(node)
    if back and node.partition:
        rows = "the last row of every partition is" if back == 1 else f"the last {back} rows are"
        read = (*node.measures, *(term for each in node.conditions for term in each.terms))
        prev = any(isinstance(term, Navigation) and term.back for term in read)
        of = f"{'PREV' if prev else '^'}{', of every partition' * (back > 1)}"
        yield f"{rows} kept for {of}, so state grows with keys"
