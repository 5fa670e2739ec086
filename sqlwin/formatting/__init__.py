"""`sqlwin fmt`: the layout of a script, and nothing else of it."""
