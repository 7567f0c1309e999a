"""Experiments: the figures of the papers beside ours. `docs/EXPERIMENTS.md` says what comes out and why it differs."""
