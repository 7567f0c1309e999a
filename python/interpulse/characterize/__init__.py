"""Characterization on simulated cells: one module per kind, listed in `registry`."""
