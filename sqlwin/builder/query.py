"""`QueryBuilder`: a SELECT, clause by clause.

>>> import sqlwin
>>> orders = sqlwin.stream(
...     "orders", {"product": "STRING", "value": "BIGINT", "ts": "TIMESTAMP"},
...     ts="ts", delay="5 seconds")
>>> totals = (
...     orders.window(sqlwin.tumble("1 minute"))
...     .group_by("product").agg(total="SUM(value)")
...     .emit(late="on update").retain("1 hour"))
>>> print(totals.sql())
SELECT `product`, `window_start`, `window_end`, SUM(value) AS `total`
FROM TUMBLE(TABLE `orders`, DESCRIPTOR(`ts`), INTERVAL '1 minute')
GROUP BY `product`, `window_start`, `window_end`
EMIT LATE ON UPDATE
RETAIN INTERVAL '1 hour'
>>> q = sqlwin.query(totals)
>>> q.push("orders", [{"product": "tea", "value": 2, "ts": "2024-01-01T09:00:10Z"}])
>>> q.drain()
>>> q.table()["total"].to_pylist()
[2]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Literal

from sqlwin.builder.clauses import OF_WINDOW, SelectClauses
from sqlwin.builder.emission import emission, expiry, retained
from sqlwin.builder.joins import How, Within, both, joined
from sqlwin.builder.over import first_rows
from sqlwin.builder.text import (
    Columns,
    Duration,
    all_of,
    column,
    duration,
    expression,
    name,
    named_items,
)
from sqlwin.builder.windows import Window
from sqlwin.errors import InputError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.ir.statements import Script
from sqlwin.python_functions.function import UserFunction
from sqlwin.runtime.lowering.explained import explain_script
from sqlwin.runtime.rows.results import PlanText
from sqlwin.sql import script


@dataclass(frozen=True)
class QueryBuilder(SelectClauses):
    """One SELECT that is being built; every method gives a new one."""

    # --- FROM ---

    def window(self, window: Window, time: str | None = None) -> QueryBuilder:
        """Rows in windows. time: the column of event time, where it is not the stream's own."""
        if self.sliced is not None:
            raise InputError("another window is of the results: .as_source('c').window(…)")
        read = self._below() if self.joined else self
        return replace(read, sliced=window, time=time or read.time)

    def alias(self, called: str) -> QueryBuilder:
        """A name for this input, which a join needs: `o` of `o.value`."""
        return self.as_source(called) if self.joined else replace(self, called=called)

    def join(
        self,
        other: QueryBuilder,
        on: str,
        how: How = "inner",
        *,
        match: str | None = None,
        as_of: str | None = None,
        within: Within | None = None,
        grace: Duration | None = None,
    ) -> QueryBuilder:
        """Pairs of rows of two inputs. One with clauses of its own is a subquery, which has a name.

        on: the condition. match: of ASOF, which rows are before which. as_of: the column whose
        time decides which version of a row of `other` matches. within: how far apart in time a
        pair is, to both sides or (before, after), and grace how late, as ksqlDB has them.
        """
        if as_of is not None and other.sliced is not None:
            raise InputError("a version of a row is no window of rows: as_of or window")
        left = self if self._bare else self._subquery()
        right = other if other._bare and not other.joined else other._subquery()
        text = joined(left.relation(), right.relation(as_of), on, how, match, within, grace)
        declared, static = both(left.declared, right.declared), both(left.static, right.static)
        both(declared, static)
        return QueryBuilder(text, left.time, declared, static, joined=True)

    def as_source(self, called: str) -> QueryBuilder:
        """This query in FROM of another: windows of windows, joins of results."""
        return replace(self._below(), called=called)

    def _below(self) -> QueryBuilder:
        time = None if self.items or self.sliced else self.time
        return QueryBuilder(f"({self.sql()})", time, self.declared, self.static)

    def _subquery(self) -> QueryBuilder:
        if self.called is None:
            raise InputError("an input with clauses, or a join, needs a name: .alias('o')")
        return self.as_source(self.called)

    # --- clauses ---

    def where(self, *conditions: str) -> QueryBuilder:
        """Of rows, before they are grouped; all conditions hold."""
        return self._with("WHERE", conditions)

    def having(self, *conditions: str) -> QueryBuilder:
        """Of groups: `total > 10`."""
        return self._with("HAVING", conditions)

    def qualify(self, *conditions: str) -> QueryBuilder:
        """Of rows with their calls over windows: `n <= 3`."""
        return self._with("QUALIFY", conditions)

    def group_by(self, *keys: str, **named: str) -> QueryBuilder:
        """Columns; named: expressions with their names. The window is a key by itself."""
        items = (*map(column, keys), *named_items(named))
        group = (*map(column, keys), *map(expression, named.values()))
        return replace(self, group=(*self.group, *group), items=(*self.items, *items))

    def agg(self, **aggregates: str) -> QueryBuilder:
        """Aggregates by their names in the result, behind the keys and the window's edges."""
        window = () if OF_WINDOW in self.items else (OF_WINDOW,)
        return replace(self, items=(*self.items, *window, *named_items(aggregates)))

    def select(self, *columns_: str, **named: str) -> QueryBuilder:
        """Columns, or `*`; named: expressions, or calls of `sqlwin.over`. A key of `group_by` is
        in the result already."""
        items = ("*" if each == "*" else column(each) for each in columns_)
        keys = {item.rpartition(" AS ")[2] for item in self.items} if self.group else set()
        fresh = (item for item in items if item not in keys)
        return replace(self, items=(*self.items, *fresh, *named_items(named)))

    def distinct(self) -> QueryBuilder:
        """Each row of the result once."""
        return replace(self, once=True)

    def limit(
        self, count: int, *, order_by: Columns, offset: int = 0, ties: bool = False
    ) -> QueryBuilder:
        """The first rows of the result in an order, kept true as it changes: `-total` orders
        downwards. offset: behind so many. ties: and those that are equal to the last of them."""
        bound = ("LIMIT", first_rows(count, order_by, offset, ties))
        return replace(self, clauses=(*self.clauses, bound))

    # --- policies ---

    def emit(
        self,
        *,
        early: Duration | int | None = None,
        late: Duration | None = None,
        on_close: bool = False,
        timeout: Duration | None = None,
        final: bool = False,
        changes: bool = False,
        early_rows: int | None = None,
        once: bool = False,
        discarding: bool = False,
    ) -> QueryBuilder:
        """When results are emitted.

        early, late: every so long, "on update"; early: every so many rows, too; late: "never".
        early_rows: or so many rows, whichever comes first. once: early but once.
        timeout: silence after which a window is full. final: once, when nothing can change it.
        changes: with each change. discarding: an emission holds what came since the last one.
        """
        given = (early, late, on_close, timeout, final, changes, early_rows, once, discarding)
        return self._policy("EMIT", emission(*given))

    def retain(self, length: Duration | None = None, *, rows: int | None = None) -> QueryBuilder:
        """How late a row may be: in time, in rows, or either."""
        return self._policy("RETAIN", retained(length, rows))

    def retention(self, length: Duration) -> QueryBuilder:
        """How long closed windows can be queried."""
        return self._policy("RETENTION", f"RETENTION {duration(length)}")

    def expired(
        self, do: Literal["emit", "count"] | None = None, *, into: str | None = None
    ) -> QueryBuilder:
        """What becomes of rows that are too late."""
        return self._policy("EXPIRED", expiry(do, into))

    # --- what it means ---

    def script(
        self,
        params: Mapping[str, str] | None = None,
        functions: Sequence[UserFunction] = (),
        streams: Mapping[str, Stream] | None = None,
        tables: Mapping[str, Stream] | None = None,
    ) -> Script:
        """As the binder reads it. QueryError for a mistake, with its place in `sql()`. streams,
        tables: others, that its expressions read."""
        declared, static = both(self.declared, streams or {}), both(self.static, tables or {})
        both(declared, static)
        return script(self.sql(), declared, params, functions, static)

    def explain(self, params: Mapping[str, str] | None = None) -> PlanText:
        """Its plan as text."""
        return PlanText(explain_script(self.script(params)))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.sql())}</pre>{self.explain()._repr_html_()}"

    def _with(self, word: str, conditions: tuple[str, ...]) -> QueryBuilder:
        all_of(conditions)  # each is checked where it is given
        known = dict(self.clauses)
        clauses = {**known, word: (*known.get(word, ()), *conditions)}
        return replace(self, clauses=tuple(clauses.items()))

    def _policy(self, word: str, text: str) -> QueryBuilder:
        return replace(self, policies=tuple({**dict(self.policies), word: text}.items()))


def source(called: str, stream: Stream, static: bool = False) -> QueryBuilder:
    """A builder that reads one stream or static table."""
    known = {called: stream}
    return QueryBuilder(name(called), stream.ts, {} if static else known, known if static else {})
