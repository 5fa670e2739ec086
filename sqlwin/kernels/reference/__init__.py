"""The specification, row by row: aggregates, windows and frames in plain Python.

Nothing here is fast, and nothing is shared with the folds: a value is computed
from the list of rows that take part, from scratch. The fast kernels are tested
against it, and expected results are written by it.

| module       | holds |
|--------------|-------|
| `rows`       | what a row is |
| `exact`      | arithmetic in fractions, order of values |
| `aggregates` | every aggregate function |
| `windows`    | which windows hold an instant, which rows a frame holds |

Rows are dicts of Python values, sorted by (__ts, __part, __seq).
"""
