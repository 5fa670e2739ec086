"""Deep nesting is refused by one message or works; long texts take time by their length."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import sqlwin
from sqlwin.cli import main
from sqlwin.errors import QueryError
from sqlwin.sql import script
from sqlwin.sql.text.depth import BRACKETS, LEGAL, MESSAGE, OPERATORS, deepest
from tests.support.sql.cases import ORDERS, bound, mistake, underlined

Make = Callable[[int], str]

NESTED: dict[str, Make] = {
    "brackets": lambda n: f"SELECT {'(' * n}n{')' * n} AS x FROM orders",
    "calls": lambda n: f"SELECT {'abs(' * n}n{')' * n} AS x FROM orders",
    "arrays": lambda n: f"SELECT {'ARRAY(' * n}n{')' * n} AS x FROM orders",
    "case": lambda n: f"SELECT {'CASE WHEN n > 1 THEN ' * n}n{' END' * n} AS x FROM orders",
    "not": lambda n: f"SELECT id FROM orders WHERE {'NOT ' * n}n = 1",
    "minus": lambda n: f"SELECT {'- ' * n}n AS x FROM orders",
    "not in brackets": lambda n: f"SELECT id FROM orders WHERE {'NOT (' * n}n = 1{')' * n}",
    "subqueries": lambda n: f"SELECT n FROM {'(SELECT n FROM ' * n}orders{')' * n}",
    "casts": lambda n: f"SELECT {'CAST(' * n}n{' AS BIGINT)' * n} AS x FROM orders",
    "in": lambda n: f"SELECT id FROM orders WHERE {'n IN (' * n}n{')' * n}",
    "types": lambda n: f"SELECT CAST(NULL AS {'ARRAY<' * n}INT{'>' * n}) AS x FROM orders",
    "lambdas": lambda n: f"SELECT TRANSFORM(ARRAY(1), {'x -> ' * n}x) AS x FROM orders",
    "not on the right": lambda n: f"SELECT id FROM orders WHERE n = 1{' = NOT n = 1' * n}",
    "windows": lambda n: (
        "SELECT COUNT(*) AS c FROM " + "(SELECT COUNT(*) AS c FROM " * n + "orders" + ")" * n
    ),
    "unions": lambda n: "(" * n + "SELECT n FROM orders" + " UNION ALL SELECT n FROM orders)" * n,
    "exists": lambda n: (
        "SELECT id FROM orders WHERE id IN (" * n + "SELECT id FROM orders" + ")" * n
    ),
    "over": lambda n: f"SELECT {'SUM(' * n}n{') OVER (ORDER BY ts)' * n} AS x FROM orders",
    "gap": lambda n: f"SELECT COUNT(*) FROM SESSION(orders, ts, {'(' * n}1 HOUR{')' * n})",
    "hints": lambda n: f"SELECT /*+ a{'(' * n}{')' * n} */ id FROM orders",
    "options": lambda n: f"CREATE STREAM x (a {'(' * n}{')' * n}); SELECT id FROM orders",
    "order by": lambda n: f"SELECT id FROM orders ORDER BY {'(' * n}id{')' * n}",
    "keys": lambda n: f"SELECT COUNT(*) FROM orders GROUP BY {'(' * n}id{')' * n}",
}
CHAINS: dict[str, Make] = {
    "plus": lambda n: f"SELECT n{' + n' * n} AS x FROM orders",
    "concat": lambda n: f"SELECT product{' || product' * n} AS x FROM orders",
    "equal": lambda n: f"SELECT id FROM orders WHERE n = 1{' = (n = 1)' * n}",
    "indexes": lambda n: f"SELECT product{'[0]' * n} AS x FROM orders",
    "fields": lambda n: f"SELECT product{'.a' * n} AS x FROM orders",
    "colons": lambda n: f"SELECT n{'::INT' * n} AS x FROM orders",
    "like": lambda n: f"SELECT product{' LIKE product' * n} AS x FROM orders",
    "is": lambda n: f"SELECT n{' IS NULL' * n} AS x FROM orders",
    "views": lambda n: (
        "CREATE VIEW v0 AS SELECT n FROM orders; "
        + "".join(
            f"CREATE VIEW v{i + 1} AS SELECT n{' + 1' * 49} AS n FROM v{i}; "
            for i in range(n // 50)
        )
        + f"SELECT n FROM v{n // 50}"
    ),
}
LONG: dict[str, Make] = {
    "or": lambda n: "SELECT id FROM orders WHERE n = 0" + _each(n, " OR n = {}"),
    "and": lambda n: "SELECT n <> 0" + _each(n, " AND n <> {}") + " AS x FROM orders",
    "both": lambda n: (
        "SELECT id FROM orders WHERE n = 0" + _each(n // 2, " AND n <> {0} OR n = {0}")
    ),
    "having": lambda n: (
        "SELECT n, COUNT(*) AS c FROM orders GROUP BY n HAVING n = 0" + _each(n, " OR n = {}")
    ),
    "texts": lambda n: "SELECT id FROM orders WHERE product = ''" + _each(n, " OR product = 'p{}'"),
    "list": lambda n: "SELECT id FROM orders WHERE n IN (0" + _each(n, ", {}") + ")",
    "case": lambda n: (
        "SELECT CASE" + _each(n // 2, " WHEN n = {0} THEN {0}") + " END AS x FROM orders"
    ),
    "items": lambda n: "SELECT n AS c" + _each(n // 8, ", n + {0} AS c{0}") + " FROM orders",
    "statements": lambda n: _each(n // 16, "SELECT n + {} AS x FROM orders;"),
    "comments": lambda n: "SELECT id " + "/* c */ -- c\n" * n + " FROM orders",
    "columns": lambda n: f"SELECT COALESCE(n{', n' * 3 * n}) AS x FROM orders",
    "not in": lambda n: "SELECT id FROM orders WHERE n NOT IN (id" + _each(n, ", n + {}") + ")",
    "casts": lambda n: (
        "SELECT id FROM orders WHERE n IN (0" + _each(n, ", CAST('{}' AS INT)") + ")"
    ),
    "chains": lambda n: (
        f"SELECT id FROM orders WHERE n{' + 1' * 200} = 0"
        + _each(n // 50, f" OR n{' + 1' * 200} = {{}}")
    ),
    "keys": lambda n: "SELECT COUNT(*) AS c FROM orders GROUP BY n" + _each(n // 8, ", n + {}"),
    "aggregates": lambda n: (
        "SELECT n" + _each(n // 8, ", SUM(n + {0}) AS c{0}") + " FROM orders GROUP BY n"
    ),
    "wide": lambda n: (
        f"CREATE STREAM x (a INT{_each(n // 8, ', c{} INT')}); SELECT a"
        + _each(n // 8, ", c{} ")
        + " FROM x"
    ),
    "views": lambda n: _each(n // 16, "CREATE VIEW w{0} AS SELECT n + {0} AS x FROM orders;"),
    "windows": lambda n: _each(
        n // 16, "SELECT COUNT(*) AS c{} FROM TUMBLE(orders, ts, INTERVAL '1' HOUR) EMIT FINAL;"
    ),
    "string": lambda n: f"SELECT '{'x' * 20 * n}' AS x FROM orders",
    "quotes": lambda n: "SELECT '" + "a''" * 20 * n + "' AS x FROM orders",
}


def _each(n: int, text: str) -> str:
    return "".join(text.format(at) for at in range(n))


def refused(text: str) -> bool:
    """Whether a text is refused as too deep; any other QueryError is one in its own right."""
    try:
        bound(text)
    except QueryError as error:
        return error.message == MESSAGE and error.legal == LEGAL
    return False


@pytest.mark.parametrize("make", NESTED.values(), ids=NESTED)
def test_nested_a_thousand_deep(make: Make) -> None:
    """Refused by the one message, or before it by another of what it is."""
    assert refused(make(1_000)) or isinstance(mistake(make(1_000)), QueryError)


@pytest.mark.parametrize("name", ["brackets", "case", "not", "types", "subqueries"])
def test_nested_fifty_thousand_deep(name: str) -> None:
    assert refused(NESTED[name](50_000))


@pytest.mark.parametrize(
    "name", ["brackets", "calls", "case", "not", "minus", "subqueries", "casts", "windows"]
)
def test_nested_as_deep_as_is_legal(name: str) -> None:
    depth = BRACKETS if name != "windows" else BRACKETS // 4
    bound(NESTED[name](depth - 1))
    assert refused(NESTED[name](BRACKETS + 1))


@pytest.mark.parametrize("make", CHAINS.values(), ids=CHAINS)
def test_chains_of_a_thousand(make: Make) -> None:
    assert refused(make(1_000)) or isinstance(mistake(make(1_000)), QueryError)


@pytest.mark.parametrize("name", ["plus", "concat", "views"])
def test_chains_as_long_as_is_legal(name: str) -> None:
    bound(CHAINS[name](OPERATORS // 2 - 10))
    assert refused(CHAINS[name](OPERATORS + 1))


def test_views_that_double_each_other() -> None:
    views = (f"CREATE VIEW v{i + 1} AS SELECT n + n AS n FROM v{i}; " for i in range(200))
    text = "CREATE VIEW v0 AS SELECT n FROM orders; " + "".join(views) + "SELECT n FROM v200"
    error = mistake(text)
    expected = "with those of the views that it reads, this expression has 50,000 parts"
    assert error.message == expected
    assert underlined(error) == "n + n AS n"


def test_the_place_is_that_of_the_bracket_that_is_too_many() -> None:
    error = mistake(f"SELECT\n{'(' * (BRACKETS + 1)}n{')' * (BRACKETS + 1)} AS x FROM orders")
    assert error.span is not None
    assert error.span.column == BRACKETS + 1


def test_what_is_in_quotes_or_comments_is_not_nested() -> None:
    deep = "(" * 2 * BRACKETS
    assert deepest(f"'{deep}' \"{deep}\" `{deep}` r'{deep}'")[0] == 0
    bound(f"SELECT '{deep}' AS x /* {deep} */ FROM orders -- {deep}")


@pytest.mark.parametrize("command", ["check", "explain", "run"])
def test_the_command_line_ends_with_2(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "q.sql"
    file.write_text(ORDERS + NESTED["brackets"](1_000), "utf-8")
    assert main([command, str(file)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {MESSAGE}\n")


def test_explain_and_other_threads_go_as_deep() -> None:
    text = NESTED["subqueries"](BRACKETS - 1)
    found: list[str] = []
    stream = "CREATE STREAM orders (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts); "
    thread = threading.Thread(target=lambda: found.append(sqlwin.explain(stream + text)))
    before = sys.getrecursionlimit()
    thread.start()
    assert sqlwin.explain(stream + text)
    thread.join()
    assert found and sys.getrecursionlimit() == before


def _seconds(make: Make, n: int, runs: int = 2) -> float:
    """Of this thread's CPU, the least of some runs."""
    text = make(n)

    def once() -> float:
        begun = time.thread_time()
        bound(text + " ")
        return time.thread_time() - begun

    gc.collect()
    gc.freeze()  # else what other tests left is searched too
    return min(once() for _ in range(runs))


@pytest.mark.long
@pytest.mark.parametrize("make", LONG.values(), ids=LONG)
def test_time_is_near_linear_in_length(make: Make) -> None:
    """Eight times the text: quadratic time would be 64 times as much."""
    bound(make(10))
    one, eight = _seconds(make, 250), _seconds(make, 2_000, runs=1)
    assert eight < 2.5 * 8 * one + 0.05, (one, eight)


@pytest.mark.parametrize("name", ["or", "having", "quotes"])
def test_a_long_text_takes_as_long_as_its_parts(name: str) -> None:
    """1,000 conditions, against ten times a hundred."""
    bound(LONG[name](10))
    one, all_ = _seconds(LONG[name], 100), _seconds(LONG[name], 1_000)
    assert all_ < 3 * 10 * one, (one, all_)


def _distinct(n: int) -> str:
    return f"SELECT DISTINCT id, n FROM ({_distinct(n - 1) if n else 'SELECT id, n FROM orders'})"


def _over_groups(n: int) -> str:
    if not n:
        return "SELECT id, ts AS at, n FROM orders"
    return f"""SELECT id, at, SUM(SUM(n)) OVER (PARTITION BY id ORDER BY at) AS n
        FROM ({_over_groups(n - 1)}) GROUP BY id, at"""


@pytest.mark.parametrize("make", [_distinct, _over_groups])
def test_a_query_whose_columns_are_wanted_is_bound_once(make: Make) -> None:
    """Bound twice at each level, the deep one would take 256 times as long."""
    bound(make(1))
    few, many = _seconds(make, 2), _seconds(make, 10)
    assert many < 3 * 5 * few, (few, many)


@pytest.mark.parametrize("name", ["columns", "casts"])
def test_long_lists_of_columns(name: str) -> None:
    """Eight times the text, where each element is rewritten: once, 64 times as long."""
    bound(LONG[name](10))
    one, eight = _seconds(LONG[name], 200), _seconds(LONG[name], 1_600)
    assert eight < 2.5 * 8 * one, (one, eight)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        pytest.param("or", 250_000, marks=pytest.mark.long),
        pytest.param("columns", 250_000, marks=pytest.mark.hours),
        pytest.param("list", 500_000, marks=pytest.mark.hours),
        pytest.param("string", 1_000_000, marks=pytest.mark.long),
    ],
)
def test_up_to_a_megabyte(name: str, size: int) -> None:
    """Eight times as long as an eighth of it, nearly."""
    letters = len(LONG[name](1_000))
    eighth, whole = (1_000 * each // letters for each in (size // 8, size))
    bound(LONG[name](10))
    assert len(LONG[name](whole)) > 0.95 * size
    one, eight = _seconds(LONG[name], eighth), _seconds(LONG[name], whole, runs=1)
    assert eight < 2 * 8 * one + 0.5, (one, eight)


def test_cycles_are_looked_for_as_often_as_before() -> None:
    before = gc.get_threshold()
    bound(LONG["or"](10))
    assert gc.get_threshold() == before


def _twice(number: int) -> str:
    below = f"SELECT a, ts FROM v{number - 1}"
    return f"CREATE VIEW v{number} AS {below} UNION ALL {below};"


def _over(number: int) -> str:
    return f"CREATE VIEW v{number} AS SELECT a + 1 AS a, ts FROM v{number - 1};"


@pytest.mark.parametrize(
    ("view", "most", "message"),
    [
        (_twice, 9, "v10 reads over 1,000 relations, those of its views included"),
        (_over, 30, "v100 stands over 100 views over each other"),
    ],
)
def test_views_over_views_have_a_bound(view: Callable[[int], str], most: int, message: str) -> None:
    text = (
        "CREATE STREAM s (a BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
        "CREATE VIEW v0 AS SELECT a, ts FROM s;"
    )
    views = [view(number) for number in range(1, 120)]
    assert script(text + "".join(views[:most])).statements == ()
    with pytest.raises(QueryError, match=message):
        script(text + "".join(views))
