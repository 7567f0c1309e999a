"""What a run writes down besides its result: logs of requests, series over time, timelines (docs/LOGS.md)."""
