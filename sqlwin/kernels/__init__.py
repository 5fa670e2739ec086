"""Columns in, columns out: frames, panes and the aggregate functions. No state, no time of day."""
