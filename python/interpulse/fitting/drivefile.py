"""Drive file of a fit: a configuration with the source of every chosen value."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from interpulse.configuration.values import literal, typed
from interpulse.fitting.defaults import FITTED
from interpulse.fitting.result import COMPLETE, Chosen, Figure, open_because
from interpulse.fitting.spec import Spec

WIDTH = 118


def written(
    spec: Spec, chosen: Sequence[Chosen], figures: Sequence[Figure], seeds: int, ended: str = COMPLETE, points: int = 0
) -> str:
    """The file: fitted values with uncertainty, all figures, and the drive with a flow of the first load.

    Args:
        spec: the fit.
        chosen: the parameters.
        figures: known and simulated figures.
        seeds: seeds of the simulated figures.
        ended: what the budget ended.
        points: the drives that were tried.
    """
    sections = copy.deepcopy(dict(spec.drive))
    if isinstance(sections.get("drive"), str):
        sections["drive"] = {"preset": sections["drive"]}
    folder = Path(spec.config.path).absolute().parent
    for key, value in spec.sets:
        _put(sections, key, typed(value))
    for each in chosen:
        source = f"{FITTED} {Path(spec.path).name}: {each.known}"
        for key, value in each.sets:
            _put(sections, key, {"value": typed(value), "source": source})
    part = sections.get("part")
    if isinstance(part, dict) and "file" in part:
        file = part["file"]
        part["file"] = str(folder / str(file["value"] if isinstance(file, dict) else file))
    lines = [*_comments(spec, chosen, figures, seeds, ended, points), *_toml({"config_version": 1} | sections)]
    load = spec.loads[0]
    lines += ["", f"# {load.name}, of the figures above; any other load can replace it.", "[run]"]
    lines += [f"requests = {spec.requests}", "", "[precondition]"]
    wanted = dict(load.sets(spec.requests, 0))
    lines += [f"{key.partition('.')[2]} = {literal(wanted[key])}" for key in wanted if key.startswith("precondition.")]
    lines += ["", "[[flow]]"]
    for key, value in wanted.items():
        if key.startswith("flow.0."):
            lines.append(f"{key.removeprefix('flow.0.')} = {literal(typed(value))}")
    return "\n".join(lines) + "\n"


def _comments(
    spec: Spec, chosen: Sequence[Chosen], figures: Sequence[Figure], seeds: int, ended: str, points: int
) -> Iterator[str]:
    yield f"# {spec.title or spec.name}: made by interpulse fit from {Path(spec.path).name}."
    if ended != COMPLETE:
        yield f"# The best of {points} drives so far: {open_because(ended)}; the same command continues from there."
    yield "#"
    for each in chosen:
        yield f"# {each.parameter.name} = {each.text}: {each.known}"[:WIDTH]
    yield "#"
    yield f"# load: figure: known, simulated (mean of {seeds} seeds), ratio; * held out, and so predicted"
    for figure in figures:
        target = figure.target
        ratio = "-" if figure.ratio is None else f"{figure.ratio:.3f}"
        star = " *" if target.held_out else ""
        known, simulated = target.said(target.value), target.said(figure.simulated)
        yield f"# {figure.load.name}: {target.figure}: {known}, {simulated}, {ratio}{star}"
    yield ""


def _put(sections: dict[str, Any], key: str, value: object) -> None:
    at = sections
    *path, last = key.split(".")
    for name in path:
        at = at.setdefault(name, {})
    at[last] = value


def _toml(sections: Mapping[str, Any]) -> Iterator[str]:
    """Sections in the format of manually written files."""
    for key, value in sections.items():
        if not isinstance(value, dict):
            yield f"{key} = {literal(value)}"
    for key, value in sections.items():
        if isinstance(value, dict):
            yield from _section(key, value)


def _section(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    inner = {key: value for key, value in table.items() if isinstance(value, dict) and "value" not in value}
    yield ""
    yield f"[{name}]"
    for key, value in table.items():
        if key not in inner:
            yield f"{key} = {_value(value)}"
    for key, value in inner.items():
        yield from _section(f"{name}.{key}", value)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ value = {literal(value['value'])}, source = {literal(value.get('source', ''))} }}"
    return re.sub(r"\s+", " ", literal(value))
