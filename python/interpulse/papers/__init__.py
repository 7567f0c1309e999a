"""The five papers in one table: every figure that they print, ours beside it, and what the agreement is worth."""
