"""Where the outputs of a query go: its sink, and the sink of its error stream.

Several queries may write to one sink; each then has a name of its own in it, so
that none replaces a batch of another.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.statements import Query, Script
from sqlwin.plan.ir.statements import Sink as Declared
from sqlwin.plan.options.connectors import SINKS, connector_of
from sqlwin.plan.properties.facts import window_policy
from sqlwin.policies import Expired
from sqlwin.runtime.connectors.function_sink import PYTHON, check_functions
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.sinks import Nowhere, Sink, open_sink, sent_once

if TYPE_CHECKING:
    import polars as pl


class Open(Protocol):
    def __call__(self, declared: Declared | None, errors: bool = False) -> Sink: ...


@dataclass(frozen=True)
class Outlet:
    """Of one query. errors: None where the run's `on_errors` takes them."""

    results: Sink
    errors: Sink | None
    expired: Expired
    options: RunOptions

    def write(self, batch: int, results: pl.DataFrame, errors: pl.DataFrame) -> None:
        """A batch; again with the same number it replaces what it wrote, where a sink can."""
        if sent_once(self.results) is None:
            self.results.write(batch, results)
        reported = self._reported(errors)
        if self.errors is not None and sent_once(self.errors) is None:
            self.errors.write(batch, reported)
        elif self.errors is None and not reported.is_empty():
            self.options.on_errors(reported)

    @property
    def sends(self) -> bool:
        """Whether a sink of it cannot replace a batch. What `send` does comes after the batch is
        committed, its outputs with it; after a crash the same outputs are sent again."""
        return bool(self._sending)

    def send(self, run: str, batch: int, results: pl.DataFrame, errors: pl.DataFrame) -> None:
        """run: whose batches are numbered, unlike that of any other checkpoint."""
        for sink in self._sending:
            sent = sent_once(sink)
            assert sent is not None
            sent.run = run
            sink.write(batch, results if sink is self.results else self._reported(errors))

    @property
    def _sending(self) -> list[Sink]:
        known = (self.results, self.errors)
        return [sink for sink in known if sink is not None and sent_once(sink) is not None]

    def _reported(self, errors: pl.DataFrame) -> pl.DataFrame:
        from sqlwin.runtime.rows.error_stream import delivered

        return delivered(errors, self.expired)

    @property
    def counts_only(self) -> bool:
        """Whether nobody reads the results."""
        return isinstance(self.results, Nowhere)


def outlets(script: Script, options: RunOptions) -> list[Outlet]:
    """One for each query to run. QueryError for a sink that cannot be opened."""
    writers: Counter[str] = Counter()

    def opened(declared: Declared | None, errors: bool = False) -> Sink:
        name = "" if declared is None else declared.name
        writers[name] += 1
        writer, base, show = writers[name], options.base, options.show
        functions = options.functions
        return open_sink(declared, base, show, writer, options.opens, errors, functions)

    declared_sinks = [sink for query in script.queries for sink in (query.sink, query.errors)]
    check_functions(options.functions, _of_functions(declared_sinks))
    return [_outlet(query, opened(query.sink), opened, options) for query in script.queries]


def _of_functions(sinks: list[Declared | None]) -> list[str]:
    """Names of those that are Python functions."""
    declared = dict.fromkeys(sink for sink in sinks if sink is not None)
    return [sink.name for sink in declared if connector_of(dict(sink.options), SINKS) == PYTHON]


def _outlet(query: Query, results: Sink, opened: Open, options: RunOptions) -> Outlet:
    policy = window_policy(query.plan)
    expired = Expired.STREAM if policy is None else policy.expired
    name = query.errors_into if policy is None else policy.errors
    if query.errors is not None:
        return Outlet(results, opened(query.errors, errors=True), expired, options)
    if name is not None:
        message = f"EXPIRED INTO {name}: no sink is called {name}"
        raise QueryError(message, legal=f"CREATE SINK {name} WITH (…) before the query")
    return Outlet(results, None, expired, options)
