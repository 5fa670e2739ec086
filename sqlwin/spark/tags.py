"""What kinds of rows travel between the stages, and their columns; see `wire`."""

ROWS, RAW, ERRORS, MARK, RESULTS = "rows", "raw", "errors", "mark", "results"
IN = "query int, bucket int, kind string, at bigint, payload binary"
OUT = "query int, bucket int, kind string, payload binary"
