"""Embedding: a drive or array that another simulator advances.

- `device`: the class `Device`, one request or NumPy batches at a time.
- `completion`: a completion, and columns of completions.
"""
