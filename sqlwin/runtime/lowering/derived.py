"""Results of one stage as weighted rows of a derived stream, and their net change in a batch.

`-U` and `-D` are retractions: their weight is -1 and their values are those emitted before;
`+I` and `+U` have the weight +1. The position of a row is a hash of its row key, so it is the
same in all its revisions, on every host and after every restart.

>>> derived(pl.DataFrame({"n": [1, 2], OP: ["-U", "+U"], ROW_KEY: ["[7]", "[7]"]}), 0)[
...     "n", WEIGHT
... ].rows()
[(1, -1), (2, 1)]

A row whose keys change may be retracted by one task and inserted by another. In whatever order
the tasks' changes arrive, the retraction is applied first:

>>> insert, delete = (pl.DataFrame({"op": [op], "row_key": ["[7]"]}) for op in ("+I", "-D"))
>>> retractions_first([insert, delete], ["row_key"], pl.col("op") == "-D")["op"].to_list()
['-D', '+I']

ISTREAM and DSTREAM take some of the changes, as rows that stay:

>>> pair = pl.DataFrame({"n": [1, 2], OP: ["-U", "+U"], ROW_KEY: "[7]", REVISION: [0, 1]})
>>> derived(pair, 0, "DSTREAM")["n", OP, ROW_KEY, WEIGHT].rows()
[(1, '+I', '[[7],0]', 1)]

A row that stands for several equal ones is as many:

>>> two = pl.DataFrame({"n": 3, "m": [1, 3], OP: ["-U", "+U"], ROW_KEY: "[7]", REVISION: [0, 1]})
>>> derived(two, 0, copies="m")["n", OP, ROW_KEY].rows()
[(3, '+I', '[[7],1]'), (3, '+I', '[[7],2]')]

Elements of an array have positions in their order, behind those of earlier rows of a stream:

>>> keys = pl.Series(['[["s",0,7],1]', '[["s",0,7],2]', '[["s",0,8],1]'])
>>> positions = of_elements(keys)
>>> positions == sorted(positions)
True

A row that is inserted and retracted in one batch leaves nothing:

>>> rows = pl.DataFrame({"n": [1, 1, 2], PART: 0, SEQ: 5, WEIGHT: [1, -1, 1]})
>>> net(rows)["n", WEIGHT].rows()
[(2, 1)]
"""

from __future__ import annotations

from hashlib import blake2b

import polars as pl

from sqlwin.schema import OP, PART, REVISION, ROW_KEY, SEQ, WEIGHT

BITS = 63
ELEMENTS = 20
"""Bits of a position that number the elements of a row."""
TASK = "__task"
BEFORE, AFTER, COPY = "__before", "__after", "__copy"


def derived(
    results: pl.DataFrame,
    part: int,
    change: str | None = None,
    copies: str | None = None,
    elements: bool = False,
) -> pl.DataFrame:
    """With `__part`, `__seq` and `__weight`, in their order. change, copies: as in `Stream`.
    elements: the rows are those of an UNNEST."""
    if change is not None:
        results = _inserted(results, change)
    if copies is not None:
        results = _copied(results, copies)
    keys = results[ROW_KEY]
    seq = of_elements(keys) if elements else [number_of(key) for key in keys.to_list()]
    added = pl.col(OP).is_in(["+I", "+U"])
    return results.with_columns(
        pl.lit(part, pl.Int32).alias(PART),
        pl.Series(SEQ, seq, dtype=pl.Int64),
        pl.when(added).then(pl.lit(1)).otherwise(pl.lit(-1)).cast(pl.Int8).alias(WEIGHT),
    )


def _inserted(results: pl.DataFrame, change: str) -> pl.DataFrame:
    """ISTREAM: what is inserted, new values too; DSTREAM: what is deleted, old values too. Each is
    a row of its own, known by the row key and revision of the change.
    """
    which = ["+I", "+U"] if change == "ISTREAM" else ["-D", "-U"]
    key = pl.format("[{},{}]", ROW_KEY, REVISION)
    return results.filter(pl.col(OP).is_in(which)).with_columns(
        key.alias(ROW_KEY), pl.lit("+I").alias(OP), pl.lit(0, pl.Int32).alias(REVISION)
    )


def _copied(results: pl.DataFrame, copies: str) -> pl.DataFrame:
    """Of equal rows one for each: those that a change of their number inserts or deletes.

    The i-th is known by the row key of all and i, so in all revisions the first n are there.
    """
    deletes = pl.col(OP) == "-D"
    old = pl.when(pl.col(OP) == "+U").then(pl.col(copies).shift()).when(deletes).then(copies)
    changed = results.with_columns(
        old.otherwise(0).alias(BEFORE), pl.when(deletes).then(0).otherwise(copies).alias(AFTER)
    ).filter(pl.col(OP) != "-U")
    least, most = (each(BEFORE, AFTER) for each in (pl.min_horizontal, pl.max_horizontal))
    each = changed.with_columns(pl.int_ranges(least, most).alias(COPY)).filter(
        pl.col(COPY).list.len() > 0
    )
    return (
        each.explode(COPY)
        .with_columns(
            pl.when(pl.col(AFTER) > pl.col(BEFORE))
            .then(pl.lit("+I"))
            .otherwise(pl.lit("-D"))
            .alias(OP),
            pl.format("[{},{}]", ROW_KEY, COPY).alias(ROW_KEY),
        )
        .drop(BEFORE, AFTER, COPY)
    )


def retractions_first(parts: list[pl.DataFrame], key: list[str], retracts: pl.Expr) -> pl.DataFrame:
    """The changes of several tasks, each in its order; of a row first those of the task that
    ends up without it.

    key: the columns that identify a row. retracts: whether a change is a retraction.
    """
    whole = pl.concat(part.with_columns(pl.lit(n).alias(TASK)) for n, part in enumerate(parts))
    last = whole.select(retracts.last().over([TASK, *key]).alias("retracted"))["retracted"]
    if len(parts) == 1 or not last.any():
        return whole.drop(TASK)
    return pl.concat([whole.filter(last), whole.filter(~last)]).drop(TASK)


def number_of(key: str) -> int:
    """A hash of 63 bits."""
    whole = int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "little")
    return whole >> (64 - BITS)


_ELEMENT = r'^\[\["(?:[^"\\]|\\.)*",0,(\d+)\],(\d+)\]$'


def of_elements(keys: pl.Series) -> list[int]:
    """The positions of rows known by another row and a number, `[[…],3]`.

    Of a stream's row, of its first partition, they begin at its own position, shifted by 20 bits;
    where that is too great, and of any other row, at a hash of 62 bits.
    """
    found = keys.str.extract_groups(_ELEMENT).struct.unnest().cast(pl.Int64, strict=False)
    seq, number = (pl.col(name) for name in found.columns)
    fits = (seq < 1 << (BITS - 1 - ELEMENTS)) & (number < 1 << ELEMENTS)
    packed = found.select(pl.when(fits).then(seq * (1 << ELEMENTS) + number)).to_series().to_list()
    pairs = zip(packed, keys.to_list(), strict=True)
    return [_hashed(key) if position is None else position for position, key in pairs]


def _hashed(key: str) -> int:
    of, _, number = key[1:-1].rpartition(",")
    return (number_of(of) >> 1) + int(number)


def net(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each position at most one retraction, of the row before the batch, then at most one row.

    Rows without weights are as they were.
    """
    place = [PART, SEQ]
    if WEIGHT not in rows.columns:
        return rows
    if (rows[WEIGHT] > 0).all() and rows.select(place).is_unique().all():
        return rows
    first = rows.unique(place, keep="first", maintain_order=True).filter(pl.col(WEIGHT) < 0)
    last = rows.unique(place, keep="last", maintain_order=True).filter(pl.col(WEIGHT) > 0)
    return pl.concat([first, last])
