"""Reports: one self-contained HTML page of plots about results.

- `run_page`: the page about runs (`interpulse report`, `run --report`); `study_page`: the page about a study.
- `runs`: the results of a page, grouped by case and side; `registry` and `sections/`: its sections.
- `page`, `elements`, `charts`: the HTML file, its charts and tables, and the style of charts.
- `timeline_files`, `context`, `slow_request`, `latency_text`, `swimlanes`, `cause_names`: the slowest requests, from
  the recorded timeline to words and drawings.
"""
