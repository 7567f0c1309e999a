"""Documents of results: the JSON of a run, of either version, as flat dictionaries of one case and seed each."""

from __future__ import annotations

from interpulse._core import version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

SCHEMA = 2
"""The `schema_version` that is written; version 1 is read too."""

_SHARED = ("schema_version", "version", "case")
"""Keys of a flat dictionary that the document holds once, at its root or beside the seeds."""

_HEADING = {"seed": int, "config_hash": str}
"""Keys of every case and seed, also of a failed one."""


def flat_cases(raw: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """The cases of a document, each as a list of its seeds; a flat dictionary is a case of one seed.

    Each seed is flat: the figures of a case beside `schema_version`, `version`, `case`, `seed` and `config_hash`.
    """
    cases = raw.get("cases")
    if cases and "seeds" in cases[0]:
        shared = {key: raw[key] for key in ("schema_version", "version") if key in raw}
        return [[{**shared, "case": case["case"], **seed} for seed in case["seeds"]] for case in cases]
    # Version 1: the first case at the root, and `cases` only where there are several; `repeats` lists seeds.
    by_name: dict[str, list[dict[str, Any]]] = {}
    for case in _of_version_1(raw):
        kept = {key: value for key, value in case.items() if key != "cases"}
        if "schema_version" in kept:
            kept["schema_version"] = SCHEMA
        by_name.setdefault(kept.get("case", ""), []).append(kept)
    return list(by_name.values())


def _of_version_1(raw: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for each in raw.get("repeats") or [raw]:
        yield from each.get("cases") or [each]


def document(cases: Sequence[Sequence[Mapping[str, Any]]], file: str | None) -> dict[str, Any]:
    """The document of flat dictionaries: the keys in the order in which the core writes them.

    Args:
        cases: for each case its seeds.
        file: name of the configuration file, None if there is none.
    """
    first = cases[0][0]
    root = {key: first[key] for key in ("schema_version", "version") if key in first}
    if file is not None:
        root["config_file"] = file
    if "config_hash" in first:
        root["config_hash"] = first["config_hash"]
    if any(seed.get("interrupted") for seeds in cases for seed in seeds):
        root["interrupted"] = True
    return root | {
        "cases": [{"case": seeds[0].get("case"), "seeds": [_seed(seed) for seed in seeds]} for seeds in cases]
    }


def _seed(flat: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in flat.items() if key not in _SHARED}


def problem(raw: object) -> str | None:
    """What makes a parsed JSON text no result, None for a result of version 1 or 2."""
    if not isinstance(raw, dict):
        return f"a result is a JSON object, not {type(raw).__name__}"
    if "repeats" in raw and "schema_version" not in raw:
        found = raw["repeats"]
        if not isinstance(found, list) or not found:
            return f"seen repeats = {_seen(raw, 'repeats')}; expected a list of results (docs/RESULTS.md)"
        return next((what for each in found if (what := problem(each))), None)
    what = _wrong(raw, {"schema_version": int})
    if what is None and raw["schema_version"] not in (1, SCHEMA):
        by = f", of interpulse {raw['version']}" if isinstance(raw.get("version"), str) else ""
        expected = f"expected 1 or {SCHEMA}, which interpulse {version} reads"
        what = f"seen schema_version = {raw['schema_version']}{by}; {expected}"
    if what is None:
        what = _wrong_1(raw) if raw["schema_version"] == 1 else _wrong_2(raw)
    return what


def _wrong_1(raw: Mapping[str, Any]) -> str | None:
    cases = raw.get("cases") or [raw]
    if not isinstance(cases, list):
        return f"seen cases = {_seen(raw, 'cases')}; expected a list of cases (docs/RESULTS.md)"
    return _first_wrong([raw, *cases], {"case": str, **_HEADING})


def _wrong_2(raw: Mapping[str, Any]) -> str | None:
    cases = raw.get("cases")
    if not isinstance(cases, list) or not cases:
        return f"seen cases = {_seen(raw, 'cases')}; expected a list of at least one case (docs/RESULTS.md)"
    what = _first_wrong(cases, {"case": str})
    if what is not None:
        return what
    for case in cases:
        seeds = case.get("seeds")
        if not isinstance(seeds, list) or not seeds:
            of = f"of case '{case['case']}'"
            return f"seen seeds = {_seen(case, 'seeds')} {of}; expected a list of at least one seed (docs/RESULTS.md)"
        what = _first_wrong(seeds, _HEADING)
        if what is not None:
            return what
    return None


def _first_wrong(parts: Iterable[object], keys: Mapping[str, type]) -> str | None:
    return next((what for part in parts if (what := _wrong(part, keys))), None)


def _wrong(part: object, keys: Mapping[str, type]) -> str | None:
    if not isinstance(part, dict):
        return f"seen {_short(part)} among its cases; expected an object (docs/RESULTS.md)"
    for key, kind in keys.items():
        if not isinstance(part.get(key), kind) or isinstance(part[key], bool):
            return f"seen {key} = {_seen(part, key)}; expected {kind.__name__} (docs/RESULTS.md)"
    return None


def _seen(part: Mapping[str, Any], key: str) -> str:
    return _short(part[key]) if key in part else "none"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
