"""A sweep that takes a moment."""

SMALL = ("--params", "1M,2M", "--cache", "64KiB,1MiB", "--eot", "0", "--dtype", "uint16")
