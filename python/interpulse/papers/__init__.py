"""Agreement table of the reproduced papers.

- `catalogue`: the papers, their studies and the figures without a row (`papers.toml`).
- `table`: published figures beside simulated ones, with counts; `output`: text, JSON, CSV and docs/PAPERS.md.
"""
