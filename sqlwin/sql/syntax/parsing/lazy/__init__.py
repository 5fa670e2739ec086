"""Lark without what a text does not need: terminals and states of the parser are read by need."""
