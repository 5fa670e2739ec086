"""Spark SQL's functions and operators: what each takes, gives and computes, see `table`."""
