"""Folds whose accumulators are the values themselves, in lists."""
