"""What is printed a column at a time is what is printed a value at a time."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sqlwin.functions.formats.by_digits import printed
from sqlwin.functions.formats.number_formats import number_format
from sqlwin.functions.texts.checks import _mask, _masked
from sqlwin.functions.texts.format_columns import columns
from sqlwin.functions.texts.java_format import formatted
from sqlwin.functions.texts.murmur import MURMUR, hashed
from sqlwin.functions.texts.xxhash import XXHASH


def _format(random: Random) -> str:
    whole = "".join(random.choices("0999,", k=random.randint(0, 8))).lstrip(",")
    signs = random.choice(["", "S", "MI"]), random.choice(["", "S", "MI", "PR"])
    point = random.choice(["", ".", ".9", ".00", ".999"])
    return signs[0] + random.choice(["", "$"]) + whole + point + signs[1]


def _numbers(random: Random, scale: int) -> pa.Array:
    wholes = [
        random.choice([0, random.randint(-(10**9), 10 ** random.randint(1, 9))]) for _ in "12345"
    ]
    numbers = [Decimal(whole).scaleb(-scale) for whole in wholes]
    return pa.array([None, *numbers, round(numbers[0])], pa.decimal128(18, scale))


def test_numbers_by_a_format() -> None:
    random = Random(1)
    done = 0
    while done < 500:
        try:
            form = number_format(_format(random))
        except ValueError:
            continue
        numbers = _numbers(random, random.randint(0, 5)).slice(random.randint(0, 2))
        found = printed(numbers, form)
        if found is not None:
            found.validate(full=True)
            expected = [None if n is None else form.printed(n) for n in numbers.to_pylist()]
            assert found.to_pylist() == expected, form
            done += 1


def test_numbers_of_more_than_64_bits_are_not() -> None:
    assert printed(pa.array([Decimal(10**20)], pa.decimal128(38, 0)), number_format("999")) is None


VALUES: dict[str, Sequence[Any]] = {
    "string": ["ab", None, "", "é😀"],
    "int": [7, None, -12, 2**31 - 1],
    "bigint": [0, 1, -(2**63), 5],
    "double": ["1.5", None, "-0.0", "NaN"],
}


@pytest.mark.parametrize(
    "format_",
    [
        *("%s", "%s %2$s|%3$d", "x%2$05d%%%3$020d", "%2$5d|%1$-5s|%4$.2f%n", "%s%<s", "plain", ""),
        *("%2$,d %2$+d", "%4$s %1$S", "%3$0200d"),
    ],
)
def test_formats(format_: str) -> None:
    arrow = {"string": pa.string(), "double": pa.string(), "int": pa.int32(), "bigint": pa.int64()}
    arrays = [pa.array(values, arrow[type_]) for type_, values in VALUES.items()]
    rows = zip(*VALUES.values(), strict=True)
    expected = [formatted(format_, row, list(VALUES)) for row in rows]
    assert columns(format_, arrays, list(VALUES)).to_pylist() == expected


@pytest.mark.parametrize("letters", ["Xxn", "Xxno", ["", "q", "", "*"], ["é", "x", "n", ""]])
def test_masks(letters: Sequence[str]) -> None:
    kinds = [*letters, ""][:4]
    texts = ["AbC-1", None, "", "ßÀ1", "a😀B"]
    arrays = [pa.array([kind] * 5) for kind in kinds]
    for given in (pa.array(texts), pa.array(["zz", *texts]).slice(1), pa.array(texts[:3])):
        arrays = [pa.array([kind] * len(given)) for kind in kinds]
        expected = [None if text is None else _masked(text, *kinds) for text in given.to_pylist()]
        assert _mask.compute(given, *arrays).to_pylist() == expected


@pytest.mark.parametrize("hash_", [MURMUR, XXHASH])
def test_a_hash_depends_on_no_other_row(hash_: Any) -> None:
    random = Random(2)
    texts = ["".join(random.choices("aé😀z", k=random.randint(0, 40))) for _ in range(200)]
    alone = [int(hashed(hash_, [pa.array([text])])[0]) for text in texts]
    assert np.array_equal(hashed(hash_, [pa.array(texts)]), alone)
