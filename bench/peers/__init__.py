"""Other simulators that `bench/compare.py` runs: their files, their commands and what they print."""
