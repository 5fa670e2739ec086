"""Which matches the rows of partitions make, as far as no row that may come can change them.

The rows below a limit, the watermark, are known. Attempts begin at each row in turn, behind the
match before it as AFTER MATCH says. One is decided unless it wanted a row that is not known yet: a
row behind the last one, while the time that WITHIN gives has not passed. The first that is not
decided is where its partition is open: nothing behind it can be said.

Worked example, a b* c within 10: a at 0, b at 1, the limit 5. The attempt at 0 wants a row
behind 1, and one may come until 10: it is open. At the limit 11 it has failed. With c at 2 it was
decided at 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from sqlwin.kernels.patterns.attempts import Attempt, Check, Found, Read, attempt
from sqlwin.kernels.patterns.paths import mapped
from sqlwin.kernels.patterns.programs import Program, program
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.matches.accumulated import Accumulated
from sqlwin.operators.matches.conditions import (
    TOGETHER,
    Condition,
    Match,
    columns_read,
    is_classifier,
)
from sqlwin.operators.matches.reading import Mapping, Rows, Term
from sqlwin.patterns import AfterMatch, AllRows, Pattern, Skip, variables
from sqlwin.schema import TS


@dataclass(frozen=True)
class Matching:
    """within: microseconds from the first row to the last; None: any. all_rows: None: one row for
    each match."""

    pattern: Pattern
    conditions: tuple[Condition, ...]
    after: AfterMatch
    within: int | None
    all_rows: AllRows | None = None

    @cached_property
    def program(self) -> Program:
        return program(self.pattern)

    @cached_property
    def of_matches(self) -> dict[str, Condition]:
        """Conditions that depend on what was mapped before."""
        return {each.variable: each for each in self.conditions if not each.of_rows}

    @cached_property
    def reads(self) -> tuple[Read, ...]:
        """What those read of the rows that were mapped before. Of rows of any variable, all of a
        path are the same rows."""
        names = variables(self.pattern)
        terms = [term for each in self.of_matches.values() for term in each.reading.terms]
        found: dict[frozenset[str], list[Term]] = {}
        for term in terms:
            own = frozenset(name for name in names if term.takes(name))
            kinds = [frozenset((name,)) for name in own] if is_classifier(term) else [own]
            for kind in kinds:
                if kind != frozenset(names):
                    found.setdefault(kind, []).append(term)
        return tuple(columns_read(kind, of) for kind, of in found.items())

    def shows(self, found: Found) -> bool:
        """Whether a row is given for an attempt that maps none."""
        if found.empty:
            return self.all_rows in (AllRows.SHOW_EMPTY, AllRows.UNMATCHED)
        return self.all_rows is AllRows.UNMATCHED

    def found(
        self, rows: Rows, begins: dict[int, int], partition: str, limit: int | None
    ) -> Iterator[tuple[int, list[Match], int | None]]:
        """Of each partition its matches and the row at which it is open, None where it is not.

        rows: below the limit. begins: by the number of its first row the row at which the first
        attempt of a partition begins. limit: None: no row will come.
        """
        run = _Run(self, rows, partition, limit)
        for first, begin in begins.items():
            yield first, *run.partition(begin)


@dataclass
class _Run:
    matching: Matching
    rows: Rows
    partition_column: str
    limit: int | None
    known: dict[int, Found] = field(default_factory=dict)

    @cached_property
    def times(self) -> np.ndarray:
        return self.rows.frame[TS].to_numpy()

    @cached_property
    def ends(self) -> np.ndarray:
        """Of each row the number behind the last that a match from it on may have."""
        first = self.rows.first
        behind = np.append(np.flatnonzero(np.diff(first)) + 1, len(first))
        ends = np.repeat(behind, np.diff(np.insert(behind, 0, 0)))
        if self.matching.within is None:
            return ends
        made = np.empty(len(ends), dtype=np.int64)
        for begin, end in zip(np.insert(behind, 0, 0)[:-1], behind, strict=True):
            times = self.times[begin:end]
            reach = np.searchsorted(times, times + self.matching.within, side="right")
            made[begin:end] = begin + reach
        return made

    @cached_property
    def flags(self) -> dict[str, Any]:
        """As `attempt` takes them: variables without a condition take every row."""
        names = {step[1] for step in self.matching.program if step[0] == 0}
        made: dict[str, Any] = dict.fromkeys(names - self.matching.of_matches.keys())
        for each in self.matching.conditions:
            if each.of_rows and each.variable in names:
                made[each.variable] = each.columns(self.rows.frame, self.partition_column)
        return made

    @cached_property
    def carried(self) -> dict[str, Accumulated]:
        """The aggregates of conditions that depend on what was mapped before."""
        return {
            variable: Accumulated(condition.reading, self.rows)
            for variable, condition in self.matching.of_matches.items()
        }

    def partition(self, begin: int) -> tuple[list[Match], int | None]:
        """Attempts from row `begin` on, to the end of its partition."""
        if begin >= len(self.times):
            return [], None
        first = self.rows.first[begin]
        matches: list[Match] = []
        at = begin
        while at < len(self.times) and self.rows.first[at] == first:
            found = self.attempt(at)
            if not self.decided(at, found):
                return matches, at
            if found.path is None:
                if self.matching.shows(found):
                    matches.append(Match(at, at - 1, None, unmatched=not found.empty))
                at += 1
                continue
            made = Match(at, at + len(mapped(found.path)) - 1, found.path)
            matches.append(made)
            at = self.next(made)
        return matches, None

    def next(self, match: Match) -> int:
        """The row of the next attempt; to the first row of the match itself goes nothing."""
        after = self.matching.after
        if after.skip is Skip.PAST_LAST_ROW:
            return match.last + 1
        if after.skip is Skip.NEXT_ROW:
            return match.first + 1
        names = mapped(match.path)
        own = [at for at, name in enumerate(names) if after.takes(name)]
        to = (own[0] if after.skip is Skip.FIRST else own[-1]) if own else 0
        return match.first + max(to, 1)

    def decided(self, at: int, found: Found) -> bool:
        if not found.ended or self.limit is None:
            return True
        within = self.matching.within
        return within is not None and int(self.times[at]) + within < self.limit

    def attempt(self, at: int) -> Found:
        if at not in self.known:
            self.known.clear()
            self.__dict__.pop("carried", None)  # of attempts that have ended
            many = min(at + TOGETHER, len(self.times)) if self.matching.of_matches else at + 1
            begun = {row: self.begun(row) for row in range(at, many)}
            self.known |= _answered(begun, self.evaluated)
        return self.known[at]

    def begun(self, at: int) -> Attempt:
        first, end = int(self.rows.first[at]), int(self.ends[at])
        return attempt(self.matching.program, self.flags, at, end, self.matching.reads, first)

    def evaluated(self, checks: list[Check]) -> list[bool]:
        made = [False] * len(checks)
        for variable, condition in self.matching.of_matches.items():
            places = [place for place, one in enumerate(checks) if one.variable == variable]
            mappings: list[Mapping] = [(checks[place].row, checks[place].path) for place in places]
            if not places:
                continue
            carried = self.carried[variable]
            terms = condition.reading.values(mappings, self.rows, carried.values)
            answers = condition.predicate(terms).fill_null(False)
            for place, answer in zip(places, answers, strict=True):
                made[place] = answer
        return made


def _answered(
    begun: dict[int, Attempt], answers: Callable[[list[Check]], list[bool]]
) -> dict[int, Found]:
    """The ends of attempts that go on together."""
    found: dict[int, Found] = {}
    checks: dict[int, Check] = {}

    def go_on(at: int, answer: bool | None) -> None:
        try:
            checks[at] = next(begun[at]) if answer is None else begun[at].send(answer)
        except StopIteration as stopped:
            found[at] = stopped.value

    for at in begun:
        go_on(at, None)
    while checks:
        waiting = list(checks.items())
        checks.clear()
        for (at, _), answer in zip(waiting, answers([one for _, one in waiting]), strict=True):
            go_on(at, answer)
    return found
