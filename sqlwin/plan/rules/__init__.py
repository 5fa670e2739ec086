"""One rule a file: a function from a plan node to an equal one, or to the node itself."""
