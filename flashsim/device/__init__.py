"""Drives: page reads replayed on a real one by direct I/O, and a model of one that is not there."""
