"""The clauses of MATCH_RECOGNIZE around its pattern: SUBSET, WITHIN, AFTER MATCH, ALL ROWS."""

from __future__ import annotations

from dataclasses import field

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.patterns import AfterMatch, AllRows, Pattern, Skip, begins, variables
from sqlwin.sql.syntax.parsing.parser import duration
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import unquoted
from sqlwin.sql.text.runs import parts

SKIPS = "PAST LAST ROW, TO NEXT ROW, TO FIRST a, TO LAST a"
_ALL_ROWS = {
    "ALL ROWS PER MATCH": AllRows.SHOW_EMPTY,
    "SHOW EMPTY MATCHES": AllRows.SHOW_EMPTY,
    "OMIT EMPTY MATCHES": AllRows.OMIT_EMPTY,
    "WITH UNMATCHED ROWS": AllRows.UNMATCHED,
}


@dataclass(frozen=True)
class Names:
    """Variables of a pattern, and those of SUBSET, by their names in lower case; subsets: of these
    the variables of the pattern that they are."""

    variables: dict[str, str]
    subsets: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def find(self, name: str) -> str | None:
        return self.variables.get(name.lower())

    def spelled(self, name: str) -> str:
        """As in the pattern."""
        return self.variables[name.lower()]

    def members(self, variable: str | None) -> tuple[str, ...]:
        """Of a SUBSET; none of a variable of the pattern."""
        return () if variable is None else self.subsets.get(variable, ())


def names(made: Pattern, spec: ast.MatchRecognize) -> Names:
    """QueryError for a name that is none of the pattern, or is given twice."""
    own = {name.lower(): name for name in variables(made)}
    seen: set[str] = set()
    for defined, _ in spec.define:
        key = defined.text.lower()
        if key not in own:
            message = f"{defined.text} is no variable of the pattern"
            raise QueryError(message, defined.span, legal=", ".join(variables(made)))
        if key in seen:
            raise QueryError(f"{defined.text} is defined twice", defined.span, legal="AND")
        seen.add(key)
    found = Names(dict(own))
    for name, members in spec.subsets:
        if name.text.lower() in found.variables:
            message = f"{name.text} is a variable already"
            raise QueryError(message, name.span, legal="SUBSET another = (a, b)")
        found.variables[name.text.lower()] = name.text
        found.subsets[name.text] = tuple(_member(run, own) for run in parts(members))
    return found


def _member(run: ast.Run, own: dict[str, str]) -> str:
    name = own.get(unquoted(run.text).lower())
    if name is None:
        message = f"{run.original} is no variable of the pattern"
        raise QueryError(message, run.span, legal=", ".join(own.values()))
    return name


def all_rows(spec: ast.MatchRecognize) -> AllRows | None:
    """None: one row for each match."""
    if spec.all_rows is None:
        return None
    found = _ALL_ROWS.get(" ".join(spec.all_rows.original.upper().split()))
    if found is None:
        message = "these words cannot stand behind ALL ROWS PER MATCH"
        legal = "SHOW EMPTY MATCHES, OMIT EMPTY MATCHES, WITH UNMATCHED ROWS"
        raise QueryError(message, spec.all_rows.span, legal=legal)
    return found


def within(spec: ast.MatchRecognize) -> int | None:
    if spec.within is None:
        return None
    made = duration(spec.within)
    if made is None or made.micros <= 0:
        message = "WITHIN takes a duration greater than 0"
        raise QueryError(message, spec.within.span, legal="WITHIN INTERVAL '1' HOUR")
    return made.micros


def after(
    spec: ast.MatchRecognize, made: Pattern, named: Names, rows: AllRows | None
) -> AfterMatch:
    if spec.after is None:
        return AfterMatch()
    found = _skip(spec.after, made, named)
    if found.skip is not Skip.PAST_LAST_ROW and rows is AllRows.UNMATCHED:
        message = "which rows are unmatched is not known where a match may begin within another"
        raise QueryError(message, spec.after.span, legal="AFTER MATCH SKIP PAST LAST ROW")
    return found


def _skip(run: ast.Run, made: Pattern, named: Names) -> AfterMatch:
    words = run.original.replace("`", "").split()
    upper = [word.upper() for word in words]
    whole = {"PAST LAST ROW": Skip.PAST_LAST_ROW, "TO NEXT ROW": Skip.NEXT_ROW}.get(" ".join(upper))
    if whole is not None:
        return AfterMatch(whole)
    if upper[:1] != ["TO"] or len(words) not in (2, 3):
        raise QueryError("this is no place to skip to", run.span, legal=SKIPS)
    name, side = words[-1], upper[1] if len(words) == 3 else "LAST"
    if side not in ("FIRST", "LAST"):
        raise QueryError("this is no place to skip to", run.span, legal=SKIPS)
    variable = named.find(name)
    if variable is None:
        message = f"{name} is no variable of the pattern"
        raise QueryError(message, run.span, legal=", ".join(named.variables.values()))
    members = named.members(variable)
    if side == "FIRST" and begins(made) <= {variable, *members}:
        message = f"each match begins with {name}, so the next one would be the same"
        raise QueryError(message, run.span, legal="TO NEXT ROW, or another variable")
    return AfterMatch(Skip.FIRST if side == "FIRST" else Skip.LAST, variable, members)
