"""sqlwin on Spark beside Flink SQL: the same queries over the same rows, in turns, in one run.

`make bench ARGS="--flink"` installs Flink into build/bench/flink, compares each answer with
DuckDB's, then measures. docs/benchmarks.md has the story under "Beside Flink SQL".
"""
