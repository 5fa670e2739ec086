"""A checkpoint on Spark: its lock and files, state queries on it, exports and imports."""
