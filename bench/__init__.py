"""Benchmarks: sqlwin's packed operators beside other ways to do the same on Spark.

Every variant answers the same query over the same files in a process of its own,
and its answer is compared with DuckDB's before any figure is reported. Read
docs/benchmarks.md for the story; `python -m bench --help` for the options.
"""
