"""The tester of real cells: what `interpulse characterize` measures, one file for each kind."""
