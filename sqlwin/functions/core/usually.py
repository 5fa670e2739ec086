"""A quick way for the usual values of a column, and the exact one for the others.

>>> texts = pa.array(["ab", "ß", None])
>>> exact = lambda odd: pa.array([text.upper() for text in odd.to_pylist()])
>>> usually(texts, pc.string_is_ascii(texts), pc.ascii_upper, exact).to_pylist()
['AB', 'SS', None]
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from sqlwin import arrow_compute as pc

Compute = Callable[[pa.Array], pa.Array]


def usually(array: pa.Array, usual: pa.Array, quick: Compute, exact: Compute) -> pa.Array:
    """usual: which values `quick` is right for; NULL where a value is. `quick` is given NULL in
    place of the others, `exact` those alone, and both are of one type."""
    if pc.all(usual, min_count=0).as_py():
        return quick(array)
    odd = pc.fill_null(pc.invert(usual), False)
    others = exact(array.filter(odd))
    made = quick(pc.if_else(usual, array, pa.scalar(None, array.type)))
    return pc.replace_with_mask(made, odd, others)
