import pyarrow as pa
import pytest

from sqlwin.plan.ir.nodes import (
    Aggregate,
    Filter,
    Node,
    Project,
    Scalar,
    Scan,
    Stream,
    TopN,
    WindowAggregate,
    WindowRank,
    column_of,
)
from sqlwin.plan.rules.optimizer import optimize
from sqlwin.policies import Policy
from sqlwin.schema import TIMESTAMP, Column, Order
from sqlwin.windows.group import Hop

INT, BOOL = pa.int64(), pa.bool_()
A, B, TS = Column("a", INT), Column("b", INT), Column("ts", TIMESTAMP)
SCAN = Scan(Stream("s", (A, B, TS), "ts"))


def test_unread_aggregates_and_columns_are_pruned() -> None:
    below = Project(SCAN, tuple((c.name, column_of(c)) for c in (A, B)))
    calls = (
        Aggregate("x", "sum", ("a",), INT),
        Aggregate("y", "sum", ("b",), INT),
    )
    window = WindowAggregate(below, Hop(10, 10), (), calls, Policy(0))
    made = optimize(Project(window, (("x", column_of(Column("x", INT))),)))
    assert isinstance(made, Project) and isinstance(made.input, WindowAggregate)
    assert [a.name for a in made.input.aggregates] == ["x"]
    assert [c.name for c in made.input.input.schema] == ["a"]
    assert optimize(made) == made


def test_rules_that_undo_each_other_do_not_converge() -> None:
    plan = Project(SCAN, (("a", column_of(A)),))
    with pytest.raises(RuntimeError, match="did not converge"):
        optimize(plan, (renamed,))


def renamed(node: Node) -> Node:
    if not isinstance(node, Project):
        return node
    ((name, scalar),) = node.columns
    return Project(node.input, ((("b" if name == "a" else "a"), scalar),))


# --- ranks keep what they read --------------------------------------------------------

C = Column("c", INT)
WIDE = Scan(Stream("s", (A, B, C, TS), "ts"))
ALL = Project(WIDE, tuple((c.name, column_of(c)) for c in (A, B, C)))
SUMS = (
    Aggregate("x", "sum", ("a",), INT, order=(Order("c"),)),
    Aggregate("y", "sum", ("b",), INT),
)


def only(node: Node, *names: str) -> Project:
    return Project(node, tuple((n, column_of(Column(n, INT))) for n in names))


def names(node: Node) -> list[str]:
    return [column.name for column in node.schema]


def test_a_top_n_keeps_its_partition_and_order_and_is_never_dropped() -> None:
    top = TopN(ALL, "rn", "row_number", ("a",), (Order("b"),), 3, Policy(None))
    made = optimize(only(top, "a"))
    assert isinstance(made, Project)
    assert made.input == TopN(only(WIDE, "a", "b"), "rn", "row_number", ("a",), (Order("b"),), 3,
                              Policy(None))  # fmt: skip
    assert names(optimize(only(top, "c", "rn"))) == ["c", "rn"]


def test_a_window_rank_keeps_what_it_orders_by() -> None:
    window = WindowAggregate(ALL, Hop(10, 10), (), SUMS, Policy(0))
    rank = WindowRank(window, "rn", "rank", (), (Order("y", descending=True),))
    made = optimize(only(rank, "rn"))
    assert isinstance(made, Project) and isinstance(made.input, WindowRank)
    assert [a.name for a in made.input.input.aggregates] == ["y"]
    assert names(made.input.input.input) == ["b"]
    assert optimize(made) == made


def test_a_window_rank_that_nobody_reads_is_dropped() -> None:
    window = WindowAggregate(ALL, Hop(10, 10), (), SUMS, Policy(0))
    rank = WindowRank(window, "rn", "rank", (), (Order("y"),))
    made = optimize(only(rank, "x"))
    assert isinstance(made, Project) and isinstance(made.input, WindowAggregate)
    assert names(made.input.input) == ["a", "c"]  # c: the order of x


def test_a_filter_on_the_rank_reads_it() -> None:
    window = WindowAggregate(ALL, Hop(10, 10), (), SUMS, Policy(0))
    rank = WindowRank(window, "rn", "rank", (), (Order("y"),))
    few = Filter(rank, Scalar("rn <= 2", '"rn" <= 2', BOOL, ("rn",)))
    made = optimize(only(few, "x"))
    assert isinstance(made, Project) and isinstance(made.input, Filter)
    assert isinstance(made.input.input, WindowRank)
