"""Experiments: one module per published evaluation, listed in `registry`."""
