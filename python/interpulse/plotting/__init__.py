"""Matplotlib plots.

- `plots`: the common style, axes and files of all plots.
- `die_diagram`: timing diagrams of one die.
"""
