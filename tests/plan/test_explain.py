from sqlwin.runtime.lowering.explained import explain_script
from tests.support.sql.cases import bound


def test_a_script_explains_every_query() -> None:
    made = bound("EXPLAIN SELECT id FROM orders; SELECT n FROM orders")
    assert explain_script(made).count("Output: screen") == 2
