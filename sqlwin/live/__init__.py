"""`sqlwin run` on a terminal: results above, and below them how the run is going."""
