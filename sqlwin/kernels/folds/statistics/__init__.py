"""Moments of one column, and of pairs of two: VARIANCE, SKEWNESS, CORR, REGR_… and the like."""
