"""A run from the command line: its engine, its screen, its metrics, what it measured."""
