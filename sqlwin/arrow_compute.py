"""The functions of `pyarrow.compute`, which is imported when one is first looked up.

It makes a Python function of each of Arrow's at its import, 40 ms of CPU, and `check` and `explain`
call none.

>>> from sqlwin import arrow_compute as pc
>>> pc.utf8_upper("tea")
<pyarrow.StringScalar: 'TEA'>
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    import pyarrow.compute

    found = getattr(pyarrow.compute, name)
    globals()[name] = found  # the next time it is found without this call
    return found
