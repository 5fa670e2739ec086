"""The Python processes that a local Spark starts: forked from one that has imported what they need.

A query of one stage starts some ten of them, and each would import PySpark, Arrow, pandas, Polars
and sqlwin: about a second of a core. `worker-python` is what Spark starts as Python; it asks the
fork server of the session for a process (`fork_client`, `fork_server`), and is plain Python, or
one that connects first (`early`), where there is no server.
"""
