"""Calls whose value the row does not decide: of processing time, of chance, of the session.

Which class a call is of says its entry in the table of functions, or why there is none; the
lists here are of names that only other dialects have. A call of chance is refused where an
expression is read, one of the session where it is compiled. One of processing time has a value
that the host records with the batch, so a query that keeps no state may call it; where there is
state, results would depend on how the input is cut into batches.

>>> import sqlglot
>>> from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
>>> for text in ("NOW()", "UNIX_TIMESTAMP()", "UNIX_TIMESTAMP(a)", "RAND()", "GETENV('HOME')"):
...     print(text, volatility(sqlglot.parse_one(text, read=SqlwinSpark)))
NOW() Volatility.PROCESSING_TIME
UNIX_TIMESTAMP() Volatility.PROCESSING_TIME
UNIX_TIMESTAMP(a) None
RAND() Volatility.CHANCE
GETENV('HOME') Volatility.SESSION
"""

from __future__ import annotations

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.functions import never
from sqlwin.functions.core.volatility import Volatility
from sqlwin.functions.table import find
from sqlwin.plan.ir.nodes import Node
from sqlwin.plan.ir.streams import ClockCall, Stream
from sqlwin.plan.options.tuning import RELOAD
from sqlwin.plan.properties.facts import keeps_state, sources_of
from sqlwin.plan.properties.processing_time import by_clock, clock_call

Expr = exp.Expr
LEGAL = (
    "NOW() in SELECT and WHERE of a query without a window, GROUP BY, OVER or join; "
    "RETAIN or a TTL for what is old; a column of the stream"
)
WINDOWS = "a window goes by a column, and one of processing time is declared in CREATE STREAM"
WINDOWS_LEGAL = "pt AS PROCTIME() there, then DESCRIPTOR(pt), TUMBLE(pt, …), ORDER BY pt"
_PLACE = "place"


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ELSEWHERE: dict[str, Volatility] = {
    **dict.fromkeys(
        _words(
            """
            age current_datetime current_localtime current_localtimestamp current_timestamp_ltz
            get_current_time get_current_timestamp getdate sysdate systimestamp today
            transaction_timestamp utc_date utc_time utc_timestamp
            """
        ),
        Volatility.PROCESSING_TIME,
    ),
    **dict.fromkeys(
        _words("currval gen_random_uuid nextval setseed txid_current uuidv4 uuidv7"),
        Volatility.CHANCE,
    ),
    **dict.fromkeys(
        _words(
            """
            current_query current_role current_setting current_version getenv getvariable pg_sleep
            sleep sleep_ms write_log
            """
        ),
        Volatility.SESSION,
    ),
}
"""By name, functions of other dialects that are not in the table."""


def volatility(node: Expr) -> Volatility | None:
    """The class of a call; None where its arguments decide its value, or it is no call."""
    if not isinstance(node, exp.Func):
        return None
    name = _name(node)
    known = find(name)
    if known is None:
        return never.volatility(name) or _ELSEWHERE.get(name)
    count = sum(1 for _ in node.iter_expressions())
    fitting = (o.volatile for o in known.overloads if o.signature.patterns(count) is not None)
    return next((each for each in fitting if each is not None), None)


def is_clock(name: str) -> bool:
    """Whether a function without arguments gives processing time."""
    return volatility(exp.Anonymous(this=name)) is Volatility.PROCESSING_TIME


def is_proctime(tree: Expr) -> bool:
    """Whether an expression is PROCTIME() and nothing else."""
    return isinstance(tree, exp.Anonymous) and _name(tree) == "proctime" and not tree.expressions


def _name(node: exp.Func) -> str:
    return (node.name if isinstance(node, exp.Anonymous) else str(node.sql_name())).lower()


def mark(node: Expr, span: Span) -> None:
    """Have a call of processing time, and its copies, know where it is written."""
    node.meta[_PLACE] = span


def clock_in(tree: Expr, span: Span) -> ClockCall | None:
    """The first call of an expression that reads processing time. span: of the expression."""
    for node in tree.walk():
        if volatility(node) is Volatility.PROCESSING_TIME:
            return ClockCall(node.sql("spark"), node.meta.get(_PLACE, span))
    return None


def refuse_clock(plan: Node) -> None:
    """QueryError where a plan that keeps state reads processing time."""
    call = clock_call(plan) if keeps_state(plan) else None
    if call is not None:
        message = (
            f"{call.text} is the time when a batch is worked on, so the results of a query that "
            "keeps state would depend on how its input is cut into batches"
        )
        raise QueryError(message, call.span, legal=LEGAL)


def refuse_two_times(plan: Node, span: Span) -> None:
    """QueryError where a query reads a stream by two event times, or by one and processing time: a
    stream has one watermark in a query, by which rows on time in the one would expire in the other.
    """
    seen: dict[str, Stream] = {}
    for stream in sources_of(plan):
        if stream.ts is None:
            continue
        other = seen.setdefault(stream.name, stream)
        if other.ts == stream.ts:
            continue
        message = f"{stream.name} is read by two times, {other.ts} and {stream.ts}, in one query"
        legal = "a query for each of them, or a second stream declared for the same source"
        calls = (dict(s.computed)[str(s.ts)].clock for s in (stream, other) if by_clock(s))
        raise QueryError(message, next((c.span for c in calls if c), span), legal=legal)


def refuse_two_readings(plan: Node, span: Span) -> None:
    """QueryError where a query looks up a table that is read again, and reads it by itself, which
    is once: rows of a source are read under its name, one way."""
    sources = sources_of(plan)
    again = {stream.name for stream in sources if RELOAD in dict(stream.options)}
    for stream in sources:
        if stream.name in again and RELOAD not in dict(stream.options):
            message = f"{stream.name} is read again where it is looked up, and once by itself"
            legal = f"{stream.name} without '{RELOAD}', or a second table of the same source"
            raise QueryError(f"{message}: not in one query", span, legal=legal)
