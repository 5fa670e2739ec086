"""The columns of a window, however they are written: which edge of it an expression names.

Invariant: every spelling (`window_start`, `TUMBLE_START(…)`, `window.start`, `WINDOWSTART`) is one
of the columns that the window has; any other expression is left to the scope.
"""

from __future__ import annotations

from sqlglot import exp

from sqlwin.sql.expressions.scalars import Expr

WINDOW = "__window"
WINDOW_TIME = "window_time"
EDGES = ("window_start", "window_end", WINDOW_TIME)
KSQL = {"windowstart": "window_start", "windowend": "window_end"}
STRUCTS = ("window", "session_window")
ENDS = ("start", "end")
_FUNCTIONS = ("TUMBLE", "HOP", "CUMULATE", "SESSION")
_LEGACY = {"START": "window_start", "END": "window_end", "ROWTIME": "window_time"}


def is_marked(node: Expr) -> bool:
    """Whether it is resolved to a column of the window."""
    return isinstance(node, exp.Column) and node.table == WINDOW


def edge_of(tree: Expr) -> str | None:
    """The column of the window that a column is, under whatever name."""
    return tree.name if is_marked(tree) else None


def marked(tree: Expr) -> bool:
    """Whether it has such a column."""
    return any(map(is_marked, tree.find_all(exp.Column)))


def is_window_call(node: Expr) -> bool:
    """Spark's `window(ts, …)` or `session_window(ts, …)`: a struct of its ends."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in STRUCTS


def is_window_time(node: Expr) -> bool:
    """Spark's `window_time(window)`."""
    called = isinstance(node, exp.Anonymous) and node.name.lower() == WINDOW_TIME
    return called and len(node.expressions) == 1


def last_instant(window: Expr) -> Expr:
    """Of a column that is a window: its end less a microsecond."""
    end = exp.Dot(this=window, expression=exp.to_identifier("end", quoted=True))
    last = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("MICROSECOND"))
    return exp.Paren(this=exp.Sub(this=end, expression=last))


def _is_window(node: Expr) -> bool:
    plain = isinstance(node, exp.Column) and not node.table and node.name.lower() in STRUCTS
    return plain or is_window_call(node)


def window_edge(node: Expr) -> str | None:
    """The window's column that a node means, None for any other node."""
    if isinstance(node, exp.Column):
        if node.table.lower() in STRUCTS and node.name.lower() in ENDS:
            return f"window_{node.name.lower()}"
        lower = node.name.lower()
        return KSQL.get(lower, lower if lower in EDGES else None)
    if isinstance(node, exp.Dot) and isinstance(node.this, exp.Anonymous):
        edge = node.expression.name.lower()
        return f"window_{edge}" if node.this.name.lower() in STRUCTS and edge in ENDS else None
    if is_window_time(node):
        return WINDOW_TIME if _is_window(node.expressions[0]) else None
    if isinstance(node, exp.Anonymous):
        function, _, edge = node.name.upper().rpartition("_")
        return _LEGACY.get(edge) if function in _FUNCTIONS else None
    return None
