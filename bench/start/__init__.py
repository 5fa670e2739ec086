"""What a start and small pushes cost: in process `python -m bench.start`, on Spark `.spark`."""
