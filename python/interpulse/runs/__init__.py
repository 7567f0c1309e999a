"""Runs and their results.

- `runner`: `interpulse.run`, which starts, watches and stops a run.
- `result`: the class `Result`.
- `summary`, `answer`: the sentences of a result.
- `latency`: the table of throughput and latency.
- `estimate`: means over seeds with confidence intervals.
- `comparison`: `interpulse.compare`.
- `repeat`: one plan for several seeds of a configuration.
- `bench`: the benchmark of the simulator itself.
"""
