"""What kinds of rows travel between the stages, and their columns; see `wire`."""

ROWS, RAW, ERRORS, MARK, RESULTS, DONE = "rows", "raw", "errors", "mark", "results", "done"
WARNING = "warning"
ARRIVED = "arrived"
STATE = "state"
COLUMNS = "query int, bucket int, kind string, at bigint, payload binary"


def of_input(kind: str, at: int) -> str:
    """The kind of what belongs to an input of a query; that of the first has no number.

    >>> of_input(ROWS, 0), of_input(ROWS, 1)
    ('rows', 'rows1')
    """
    return kind if at == 0 else f"{kind}{at}"
