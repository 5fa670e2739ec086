"""Which join its words ask for: `LEFT JOIN`, `ASOF JOIN`, `LEFT SEMI JOIN`, a comma.

>>> from sqlwin.errors import Span
>>> join_type(ast.Name("LEFT OUTER JOIN", Span(1, 1))), join_type(ast.Name(",", Span(1, 1)))
(JoinType(kind='left', asof=False, bare=False), JoinType(kind='inner', asof=False, bare=True))
"""

from __future__ import annotations

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.joins.inputs import Input
from sqlwin.sql.text import ast

LEGAL = "[INNER] JOIN, LEFT JOIN, RIGHT JOIN, FULL JOIN, SEMI JOIN, ANTI JOIN, [LEFT] ASOF JOIN"
LEGAL_ON = "JOIN b ON a.id = b.id, JOIN b USING (id)"
_KINDS = {
    "": "inner",
    "INNER": "inner",
    "CROSS": "inner",
    ",": "inner",
    **{side: side.lower() for side in ("LEFT", "RIGHT", "FULL", "SEMI", "ANTI")},
    **{f"{side} OUTER": side.lower() for side in ("LEFT", "RIGHT", "FULL")},
    "LEFT SEMI": "semi",
    "LEFT ANTI": "anti",
}
MIRRORED = {
    **{word: word for word in ("JOIN", "INNER JOIN", "CROSS JOIN", ",")},
    "RIGHT JOIN": "LEFT JOIN",
    "RIGHT OUTER JOIN": "LEFT JOIN",
}
"""The words of a join whose inputs are changed over."""


@dataclass(frozen=True)
class JoinType:
    """bare: it has no condition of its own, as CROSS JOIN and the comma."""

    kind: str
    asof: bool = False
    bare: bool = False


def join_type(word: ast.Name) -> JoinType:
    """QueryError for words that make no join."""
    join_type_ = [part for part in word.text.split(" ") if part != "JOIN"]
    if "NATURAL" in join_type_:
        message = "NATURAL JOIN goes by whatever names two streams happen to share"
        raise QueryError(message, word.span, legal="USING (id), ON a.id = b.id")
    asof = join_type_.count("ASOF") == 1
    rest = " ".join(part for part in join_type_ if part != "ASOF" or not asof)
    kind = _KINDS.get(rest)
    if rest in ("RIGHT SEMI", "RIGHT ANTI"):
        message = f"{rest} JOIN is not supported yet"
        raise QueryError(message, word.span, legal=f"{rest[6:]} JOIN, with its inputs changed over")
    if kind is None:
        raise QueryError(f"there is no {word.text}", word.span, legal=LEGAL)
    if asof and (kind not in ("inner", "left") or rest == "CROSS"):
        message = f"{word.text} is not supported: an ASOF join is of its left rows"
        raise QueryError(message, word.span, legal="ASOF JOIN, LEFT ASOF JOIN")
    return JoinType(kind, asof, bare=rest in ("CROSS", ","))


def refuse(join: ast.Join, join_type_: JoinType, right: Input) -> None:
    """What its words, its right input and its conditions do not let stand together."""
    word, given = join.word, bool(join.on or join.using or join.equal)
    if join_type_.bare and given:
        raise QueryError(f"{word.text} has no condition of its own", word.span, legal=LEGAL_ON)
    if not join_type_.bare and not given:
        raise QueryError(f"{word.text} needs ON or USING", word.span, legal=LEGAL_ON)
    if join.match is not None and not join_type_.asof:
        message = f"MATCH_CONDITION belongs to ASOF JOIN, not to {word.text}"
        raise QueryError(message, join.match.span, legal="ASOF JOIN b MATCH_CONDITION (…) ON …")
    if right.as_of is not None and (join_type_.asof or join_type_.kind not in ("inner", "left")):
        message = f"{word.text} does not go with FOR SYSTEM_TIME AS OF"
        raise QueryError(message, word.span, legal="JOIN, LEFT JOIN")
    if right.static:
        _refuse_static(join_type_, word, right)
    nearest = join_type_.asof or right.as_of is not None or right.static
    if join.within is not None and nearest:
        message = "WITHIN belongs to a join of two streams by their windows"
        raise QueryError(message, join.within.span, legal="JOIN b WITHIN 2 HOURS ON a.id = b.id")


def _refuse_static(join_type_: JoinType, word: ast.Name, right: Input) -> None:
    if join_type_.asof:
        message = f"{right.side.name} is a static table: no row of it is before another"
        raise QueryError(message, word.span, legal="JOIN, LEFT JOIN")
    if join_type_.kind in ("right", "full"):
        message = f"{word.text} would wait for all of the stream, to emit what nothing looked up"
        raise QueryError(message, word.span, legal="JOIN, LEFT JOIN, SEMI JOIN, ANTI JOIN")
