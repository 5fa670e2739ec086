"""docs/aggregates.md has every aggregate, with the facts that the code goes by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from sqlwin.aggregates import ALIASES, MEAN_DISTINCT, SIGNATURES, SKIP_NULLS, Signature, signature

DOCS = Path(__file__).parents[2] / "docs" / "aggregates.md"
TABLE = [
    [cell.strip() for cell in line.strip().strip("|").split("|")]
    for line in DOCS.read_text().splitlines()
    if line.startswith("| `")
]
INT, TEXT, PRICE = pa.int32(), pa.string(), pa.decimal128(10, 2)
TYPES = (INT, pa.float32(), PRICE, TEXT, pa.bool_(), pa.date32(), pa.binary())

RESULTS: dict[str, Callable[[pa.DataType], pa.DataType]] = {
    "BIGINT": lambda type_: pa.int64(),
    "DOUBLE": lambda type_: pa.float64(),
    "BOOLEAN": lambda type_: pa.bool_(),
    "STRING": lambda type_: pa.string(),
    "BINARY": lambda type_: pa.binary(),
    "the argument's": lambda type_: type_,
    "ARRAY of the argument's": pa.list_,
    "MAP of it and BIGINT": lambda type_: pa.map_(type_, pa.int64()),
    "MAP of them": lambda type_: pa.map_(type_, type_),
}


def facts(known: Signature) -> list[str]:
    """A row of the table, but for the result."""
    spellings = ", ".join(f"`{name.upper()}`" for name, to in ALIASES.items() if to == known.name)
    arguments = "; ".join([known.accepts, *(param.value for param in known.params)])
    arguments += ", or an array of them" * known.listed
    optional = [default for default in known.defaults if default is not None]
    arguments += f" (left out: `{optional[0]}`)" if optional else ""
    arguments += ", or nothing" * (known.defaults == (None,))
    state = "full" if known.full_state else "incremental"
    if known.keeps_values(distinct=True) and not known.full_state:
        state += ", full with DISTINCT"
    return [
        f"`{known.name.upper()}`", spellings, arguments, known.distinct.value,
        "yes" if known.sorts else "no", state, "yes" if known.invertible else "no",
        "exact" if known.exact else known.bound, known.nothing.value,
    ]  # fmt: skip


SAYS_MORE = (
    *("sum", "avg", "try_sum", "try_avg", "percentile_disc", "regr_avgx", "regr_avgy"),
    "string_agg",
)
"""Their results depend on the argument in words of their own."""


@pytest.mark.parametrize("known", SIGNATURES, ids=lambda known: known.name)
def test_every_aggregate_is_in_the_table(known: Signature) -> None:
    (row,) = (row for row in TABLE if row[0] == f"`{known.name.upper()}`")
    result = row[3]
    assert [*row[:3], *row[4:]] == facts(known)
    if known.name in SAYS_MORE:
        return
    one, *array = result.split(", or an ")
    assert bool(array) == (known.listed or known.several)
    accepted = [t for t in TYPES if known.result((t, t)) is not None]
    assert accepted
    for type_ in accepted:
        assert known.result((type_, type_)) == RESULTS[one](type_)
        if array:
            assert known.returns((type_, type_), listed=True) == pa.list_(RESULTS[one](type_))


def test_results_of_sum_and_avg() -> None:
    cells = {row[0]: row[3] for row in TABLE}
    assert cells["`TRY_SUM`"] == cells["`SUM`"]
    assert cells["`TRY_AVG`"] == cells["`AVG`"] == cells["`REGR_AVGX`"] == cells["`REGR_AVGY`"]
    assert cells["`SUM`"] == "BIGINT, DOUBLE; DECIMAL(p + 10, s)"
    assert cells["`AVG`"] == "DOUBLE; DECIMAL(p + 4, s + 4)"
    sums = (("sum", pa.decimal128(20, 2)), ("avg", pa.decimal128(14, 6)))
    for name, price in (*sums, *((f"try_{name}", price) for name, price in sums)):
        known = signature(name)
        assert known is not None
        assert known.result((PRICE,)) == price
        assert known.result((TEXT,)) is None


def test_results_of_percentile_disc() -> None:
    (row,) = (row for row in TABLE if row[0] == "`PERCENTILE_DISC`")
    assert row[3] == "DOUBLE of a number, else the argument's, or an ARRAY"
    known = signature("percentile_disc")
    assert known is not None
    assert known.result((PRICE,)) == pa.float64()
    assert known.result((TEXT,)) == TEXT


def test_the_table_has_nothing_else() -> None:
    assert [row[0] for row in TABLE] == [f"`{known.name.upper()}`" for known in SIGNATURES]


def test_spellings_lead_to_functions() -> None:
    names = {known.name for known in SIGNATURES}
    assert set(ALIASES.values()) <= names
    assert not names & set(ALIASES)
    assert set(ALIASES) >= MEAN_DISTINCT | SKIP_NULLS
