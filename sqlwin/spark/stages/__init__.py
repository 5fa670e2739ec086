"""The stateful operators: a program of stages, cut into buckets, and the rows between them."""
