"""A run from the command line: its engine, its screen, its metrics, and how it is interrupted."""
