"""DuckDB, locked: where text that nobody vouches for is bound and run.

A query's expressions reach DuckDB as text. Three walls stand between that text and the
machine; each holds if the others should not:

1. `sqlwin.sql.allowed`: an expression is a tree of known nodes and known functions.
2. `tree`: what DuckDB itself reads in the text that is about to run is one SELECT over
   `rows` of expressions and functions that read nothing but their arguments.
3. `locked`: the connection has no files, no network and no extensions, sees no variables
   of Python, and its configuration cannot be changed.

`bounds` limits what one value may grow to, `clock` how long one call may take.
"""
