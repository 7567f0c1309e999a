"""Logs of single requests, time series and timelines of a run.

- `options`: what `--log`, `--series` and `--timeline` accept.
- `recording`: the thread that stores rows during a run.
- `columns`: rows from the core as arrays; `files`: Parquet and fio files; `trace`: Perfetto traces.
- `slowest`: the slowest requests; `viewer`: a local server of the Perfetto UI.
"""
