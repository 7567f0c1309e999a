"""Files and folders: what every other package reads and writes through.

- `paths`: checks of the paths that a user names, and reading of small text files.
- `atomic_file`: files that appear complete or not at all.
- `json_reader`: a JSON parser that starts faster than `json`.
- `cache`: the folder of snapshots of preconditioned drives.
"""
