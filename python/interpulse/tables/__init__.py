"""Text output: tables and numbers.

- `layout`: tables and prose of a given width.
- `format`: numbers, sizes and durations as text, simple grids, CSV.
"""
