"""Searches over configurations: the largest load, the cheapest scheme, the best trade-offs."""
