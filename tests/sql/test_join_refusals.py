"""What a join cannot be: each refusal's message and the place it underlines."""

from __future__ import annotations

from tests.support.sql.joins import mistake


def test_an_ambiguous_name_is_reported_with_what_it_may_be() -> None:
    error = mistake("SELECT id FROM orders o CROSS JOIN shipments CROSS JOIN products")
    assert str(error).splitlines()[0] == "id is a column of 2 inputs of this join"
    assert error.legal == "o.id, shipments.id"


def test_an_unknown_column_is_reported_with_those_of_its_input() -> None:
    error = mistake("SELECT s.product FROM orders o CROSS JOIN shipments s")
    assert error.message == "unknown column product; here it is o.product"
    assert error.legal == "id, order_id, cost, at"
