"""CROSS JOIN UNNEST and LATERAL VIEW EXPLODE: each row of a relation with each of its elements.

The rows of elements are a derived stream: a stage of its own that keeps nothing, below whatever
window, OVER or join the query has. Its event time is the row's.

Of structs UNNEST makes a column of each field, as INLINE does, unless one name is given for all;
EXPLODE makes one of the struct. Of a map each makes a key and a value. Those of several arrays are
called `col1`, `col2`, by their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Scan, Unnest
from sqlwin.plan.ir.unnest import element_type
from sqlwin.plan.properties.times import delay_in
from sqlwin.schema import a_type, type_name
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.scalars import Expr, column, parsed, scalar
from sqlwin.sql.relations.items import unique
from sqlwin.sql.relations.relation import NOWHERE, JoinSide, Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.sources.derived import derived, result, timed_as
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window
from sqlwin.windows.group import Ending

if TYPE_CHECKING:
    from sqlwin.sql.sources.known import Known

ARRAY = "array to unnest"
"""A column of the plan below, and none of the relation."""
LEGAL = "an ARRAY or a MAP, such as SPLIT(tags, ',')"


@dataclass(frozen=True)
class Elements:
    """The columns of an element, and their numbers. expands: as in `Unnest`."""

    names: tuple[str, ...]
    expands: bool
    ordinal: str | None
    first: int

    @property
    def listed(self) -> tuple[str, ...]:
        """As a query sees them: Spark has the number first."""
        number = () if self.ordinal is None else (self.ordinal,)
        return (*self.names, *number) if self.first else (*number, *self.names)


def unnested(relation: Relation, unnests: Sequence[ast.Unnest], known: Known) -> Relation:
    for each in unnests:
        relation = _unnested(derived(relation, known), each, known)
    return relation


def refuse_beside(window: Window, unnest: ast.Unnest) -> None:
    """QueryError for a window in which a row without elements would take part: it has the rows
    before UNNEST, and of them that one is no row."""
    if isinstance(window.group, Ending) and not window.counts:
        return
    what = "a session" if window.session is not None else "this window of the stream"
    message = f"{what} is of rows, and UNNEST beside it makes others"
    legal = "a window over a query in FROM with the UNNEST, or UNNEST over one with the window"
    raise QueryError(message, unnest.function.span, legal=legal)


def _unnested(relation: Relation, given: ast.Unnest, known: Known) -> Relation:
    for run in given.arrays:
        type_ = scalar(_array(relation, replace(given, array=run)), relation.under, run).type
        if element_type(type_) is None or pa.types.is_map(type_):
            message = f"UNNEST of several takes arrays, this is {a_type(type_)}"
            raise QueryError(message, run.span, legal="MAP_ENTRIES of a map; SPLIT(tags, ',')")
    array = _array(relation, given)
    type_ = scalar(array, relation.under, given.array).type
    element = element_type(type_)
    if element is None:
        message = f"{given.function.text} takes an array or a map, this is {a_type(type_)}"
        raise QueryError(message, given.array.span, legal=LEGAL)
    made = _elements(given, element, pa.types.is_map(type_))
    unique([(each, given.array) for each in made.listed])
    name = _name(relation, given)
    relation = _distinguished(relation, made.listed)
    taken = {own.lower() for side in relation.sides for own, _ in side.columns}
    called = {n: f"{name}.{n}" if n.lower() in taken else n for n in made.listed}
    array_name = relation.free(ARRAY)
    below = replace(relation, columns=(*relation.columns, (array_name, array, given.array)))
    node = Unnest(
        below.plan(),
        array_name,
        tuple(called[each] for each in made.names),
        made.expands,
        None if made.ordinal is None else called[made.ordinal],
        made.first,
        given.outer,
    )
    columns = [(each, column(each), run) for each, _, run in relation.columns]
    columns += [(called[each], column(called[each]), NOWHERE) for each in made.listed]
    rows = Relation(node, tuple(columns), (*relation.names, name), reads=relation.reads)
    side = JoinSide(name, tuple(called.items()), given.hidden)
    return replace(_as_before(result(rows, known), relation), sides=(*relation.sides, side))


def _array(relation: Relation, given: ast.Unnest) -> Expr:
    tree = parsed(given.array)
    refuse_calls(tree, given.array, given.function.text)
    return relation.below(Scope(relation).resolved(tree, given.array), given.array)


def _name(relation: Relation, given: ast.Unnest) -> str:
    if given.alias is None:
        return given.function.text.lower()
    name = given.alias.text
    if name.lower() in (each.lower() for each in relation.names):
        message = f"two relations here are called {name}"
        raise QueryError(message, given.alias.span, legal=f"{name} AS another")
    return name


def _distinguished(relation: Relation, names: Sequence[str]) -> Relation:
    """With its sides, and its columns that are called as one of `names` by a longer name."""
    sides = relation.sides or (_side(relation),)
    lower = {name.lower() for name in names}
    longer = {
        called: f"{side.name}.{own}"
        for side in sides
        for own, called in side.columns
        if side.name and called.lower() in lower
    }
    return replace(
        relation,
        columns=tuple((longer.get(n, n), tree, run) for n, tree, run in relation.columns),
        sides=tuple(
            replace(side, columns=tuple((own, longer.get(n, n)) for own, n in side.columns))
            for side in sides
        ),
    )


def _side(relation: Relation) -> JoinSide:
    name = relation.names[0] if relation.names else ""
    return JoinSide(name, tuple((each, each) for each, _, _ in relation.columns))


def _as_before(made: Relation, relation: Relation) -> Relation:
    """By the event time that the relation had, if it had one."""
    before, stream = relation.stream, made.stream
    if before is None or before.ts is None or stream is None:
        return made
    names = [name for name, tree, _ in relation.columns if tree.name == before.ts]
    known = [name for name in names if delay_in(stream, name) is not None]
    return replace(made, base=Scan(timed_as(stream, known[0]))) if known else made


def _elements(given: ast.Unnest, element: pa.DataType, of_map: bool) -> Elements:
    numbered = given.ordinality is not None or given.function.text == "POSEXPLODE"
    first = 1 if given.function.text == "UNNEST" else 0
    fields = [field.name for field in element] if pa.types.is_struct(element) else []
    if given.arrays:
        fields = [f"col{at}" for at in range(1, len(fields) + 1)]
    columns = [name.text for name in given.columns]
    one = len(columns) - numbered == 1 and len(fields) > 1 and not of_map
    whole = given.function.text in ("EXPLODE", "POSEXPLODE") or one
    expands = of_map or (bool(fields) and (given.function.text == "INLINE" or not whole))
    if given.function.text == "INLINE" and not (fields and not of_map):
        message = f"INLINE takes an array of structs, this is one of {type_name(element)}"
        raise QueryError(message, given.array.span, legal="EXPLODE of any other")
    names = fields if expands else [_default(given)]
    ordinal = ["pos" if first == 0 else "ordinality"] if numbered else []
    defaults = [*names, *ordinal] if first else [*ordinal, *names]
    if columns and len(columns) != len(defaults):
        count = f"{len(columns)} name{'s' * (len(columns) > 1)}"
        made = f"{len(defaults)} column{'s' * (len(defaults) > 1)}"
        message = f"{given.function.text} makes {made} here, and has {count}"
        span = given.columns[0].span
        raise QueryError(message, span, legal=f"a name for each of {', '.join(defaults)}")
    listed = columns or defaults
    own = listed[: len(names)] if first else listed[len(ordinal) :]
    number = (listed[-1] if first else listed[0]) if numbered else None
    return Elements(tuple(own), expands, number, first)


def _default(given: ast.Unnest) -> str:
    """PostgreSQL's name of the one column of `UNNEST(…) AS x`; EXPLODE's is Spark's."""
    if given.function.text != "UNNEST":
        return "col"
    return "unnest" if given.alias is None else given.alias.text
