"""What becomes of a batch: outlets, callbacks, and metrics as Spark's own."""
