"""Studies: sets of cases and jobs whose rows are compared with published figures.

- `registry`: the description of a study; `context`: its options, files and job execution.
- `case`, `pool`, `parallel`, `overlap`: cases, the workers that simulate them, and threads.
- `store`: results of earlier runs.
- `published`, `status`, `outcome`, `verdict`: published figures, the status of a row, rows, agreement.
- `batch`: several studies in parallel; `repeat`, `seed_overlay`: one study with several seeds, and its plots.
- `output`: JSON, table, CSV files and plots.
"""
