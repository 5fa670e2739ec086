"""Sketches of Apache DataSketches, in the bytes that Spark reads and writes."""
