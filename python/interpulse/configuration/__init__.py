"""Configurations: TOML text, overrides and the names that they may use.

- `config`: the class `Config`, and the command-line form `key=value`.
- `values`: values of Python, NumPy and TOML as settings.
- `lists`: the lists of the core (parts, schemes, keys, counters) and look-up by name.
- `extras`: the check for optional packages.
"""
