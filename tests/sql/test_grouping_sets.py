import pytest

from sqlwin.plan.ir.nodes import GROUPING
from sqlwin.windows.group import Whole
from tests.support.sql.cases import bound, columns, filtered, mistake, plan, window

TUMBLE = "TUMBLE(orders, ts, 1 HOUR)"
Sets = list[tuple[str, ...]]


def sets(group: str, source: str = TUMBLE) -> Sets:
    return list(window(f"SELECT COUNT(*) AS c FROM {source} GROUP BY {group}").sets)


@pytest.mark.parametrize(
    ("group", "meant"),
    [
        ("GROUPING SETS ((product, n), (product), ())", [("product", "n"), ("product",), ()]),
        ("GROUPING SETS (product, (n))", [("product",), ("n",)]),
        ("grouping  sets ( (product) , (n) )", [("product",), ("n",)]),
        ("ROLLUP(product, n)", [("product", "n"), ("product",), ()]),
        ("Rollup (product, (n, id))", [("product", "n", "id"), ("product",), ()]),
        ("CUBE(product, n)", [("product", "n"), ("product",), ("n",), ()]),
        ("product, ROLLUP(n, id)", [("product", "n", "id"), ("product", "n"), ("product",)]),
        ("ROLLUP(n), product", [("n", "product"), ("product",)]),
        ("ROLLUP(product), ROLLUP(n)", [("product", "n"), ("product",), ("n",), ()]),
        ("product, n WITH ROLLUP", [("product", "n"), ("product",), ()]),
        ("product, n with cube", [("product", "n"), ("product",), ("n",), ()]),
        ("GROUPING SETS (ROLLUP(product), CUBE(n))", [("product",), (), ("n",)]),
        ("GROUPING SETS (GROUPING SETS ((n)), product)", [("n",), ("product",)]),
        ("GROUPING SETS ((n), (n), (n, n))", [("n",)]),
        ("GROUPING SETS ((n, product), (product, n), ())", [("n", "product"), ()]),
        ("ROLLUP((product), 'a)(', UPPER(product))",
         [("product", "_key1", "_key2"), ("product", "_key1"), ("product",), ()]),
        ("window_start, window_end, ROLLUP(product)", [("product",), ()]),
        ("ROLLUP(product), window_start", [("product",), ()]),
        ("window_start, window_end, product, n WITH ROLLUP", [("product", "n"), ("product",), ()]),
        ("GROUPING SETS ((window_start, product), (window_start))", [("product",), ()]),
    ],
)  # fmt: skip
def test_sets(group: str, meant: Sets) -> None:
    assert sets(group) == meant


def test_every_key_is_a_column_whatever_set_it_is_in() -> None:
    made = window(
        f"SELECT n, product, COUNT(*) FROM {TUMBLE} GROUP BY GROUPING SETS ((n), (product))"
    )
    assert made.keys == ("n", "product")
    assert [c.name for c in made.schema][:5] == [
        "n", "product", GROUPING, "window_start", "window_end",
    ]  # fmt: skip


def test_no_sets_where_none_are_asked_for() -> None:
    made = window(f"SELECT n, COUNT(*) FROM {TUMBLE} GROUP BY n, (product)")
    assert made.sets == ()
    assert GROUPING not in [c.name for c in made.schema]


def test_sets_name_aliases_and_ordinals() -> None:
    made = window(f"SELECT UPPER(product) AS p, n, COUNT(*) FROM {TUMBLE} GROUP BY ROLLUP(p, 2)")
    assert made.sets == (("_key1", "n"), ("_key1",), ())


def test_keys_of_the_streams_window_are_in_every_set() -> None:
    source = "orders OVER (PARTITION BY product RANGE 1 HOUR PRECEDING ADVANCE BY 1 MINUTE)"
    assert sets("ROLLUP(n)", source) == [("product", "n"), ("product",)]


def test_sets_of_the_whole_stream() -> None:
    made = window("SELECT product, COUNT(*) FROM orders GROUP BY ROLLUP(product)")
    assert (made.window, made.sets) == (Whole(), (("product",), ()))


def test_grouping_in_group_by_of_a_hop_by_its_call() -> None:
    made = window(
        "SELECT product, COUNT(*) FROM orders "
        "GROUP BY HOP(ts, '1' MINUTE, '1' HOUR), GROUPING SETS ((product), ())"
    )
    assert made.sets == (("product",), ())


def test_which_keys_are_left_out() -> None:
    text = (
        "SELECT GROUPING(n) AS g, GROUPING_ID(id, product) AS two, GROUPING_ID() AS every "
        f"FROM {TUMBLE} GROUP BY CUBE(product, n, id) HAVING GROUPING(product) = 0"
    )
    made = plan(text)
    bits = {"product": 2, "n": 1, "id": 0}
    bit = {key: f"((SHIFTRIGHT(__grouping, {at})) & 1)" for key, at in bits.items()}
    assert columns(made) == {
        "g": bit["n"],
        "two": f"({bit['id']} * 2 + {bit['product']})",
        "every": GROUPING,
    }
    assert filtered(made) == f"{bit['product']} = 0"
    assert [str(column.type) for column in made.schema] == ["int64"] * 3


def test_grouping_of_an_expression() -> None:
    text = f"SELECT GROUPING(UPPER(product)) AS g FROM {TUMBLE} GROUP BY ROLLUP(upper(product))"
    assert columns(plan(text)) == {"g": "((SHIFTRIGHT(__grouping, 0)) & 1)"}


def test_more_keys_than_bits() -> None:
    names = [f"c{at}" for at in range(64)]
    declared = ", ".join(f"{name} INT" for name in names)
    text = (
        f"CREATE STREAM wide ({declared}, ts TIMESTAMP, WATERMARK FOR ts AS ts); "
        "SELECT COUNT(*) FROM TUMBLE(wide, ts, 1 HOUR) "
        f"GROUP BY GROUPING SETS (({', '.join(names)}))"
    )
    assert mistake(text).message == "grouping sets of 64 keys"
    with_none = text.replace("GROUPING SETS (", "GROUPING SETS ((), ")
    assert mistake(with_none).message == "grouping sets of 64 keys"
    assert bound(text.replace(", c63)", ")"))
