"""Base configuration of the page, and the configuration that it becomes with the values of the controls."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError
from interpulse.configuration.config import Config, parse_set
from interpulse.configuration.lists import listed
from interpulse.configuration.values import literal, toml, typed
from interpulse.explore.controls import AUTOMATIC, OPERATIONS
from interpulse.flash import parts

NAME = "explored.toml"
"""Name of the exported configuration."""

WITHOUT = "no suspension"
"""Name of the case that the chosen suspension is compared with."""

WARMUP = 60_000
"""Requests before the window where the configuration does not say how long: as many as the demo drive needs to be
steady, and few enough where the load is more than the drive serves."""

SHORT_WARMUP = 20_000
"""Requests before a window that a longer one follows at once."""

WITH_EVENTS = {"faults", "power-loss", "errors", "array"}
"""Sections of what happens at times since the start, which a warm-up would shift."""

NONE = "none"
UNSET = "not set"


@dataclass(frozen=True)
class Setup:
    """A configuration that the controls describe."""

    text: str
    """TOML, as it is exported and simulated."""
    path: str
    """Where the text would be a file: traces are looked for beside it."""
    cases: tuple[str, ...]
    """Its cases: without suspension, then with the chosen one unless that is none."""
    requests: int
    chosen: str
    """The chosen suspension in words."""
    without: str
    """The text of the first case alone, which its result depends on."""

    def config(self) -> Config:
        """The configuration; histograms change no figure of a result."""
        return Config.from_toml(self.text, path=self.path).set("report.histograms", True)


class Base:
    """The configuration that controls change.

    Attributes:
        label: what the page calls it.
        configured: the value of each control in it.
        fixed: controls that do not apply to it, each with the reason.
    """

    def __init__(self, doc: Mapping[str, Any], folder: Path | None, label: str) -> None:
        """`doc`: the keys of a configuration of one case.

        Raises:
            ConfigError: it cannot be used.
        """
        self.label = label
        self._doc = doc
        self._path = str(folder / NAME) if folder is not None else NAME
        plan = Config.from_toml(_text(doc), path=self._path).resolve()
        self._entries = {entry.key: entry for entry in plan.entries()}
        self.title = self._value("title", "") or label
        self.configured: dict[str, str] = {}
        self.fixed: dict[str, str] = {}
        self._read_suspension()
        self._read_load()
        self._read_drive()

    @classmethod
    def load(cls, path: Path | None, sets: Sequence[str] = (), case: str | None = None) -> Base:
        """The configuration at `path`, or the demo drive, with overrides; of several cases the named or last one.

        Raises:
            ConfigError: the configuration cannot be used, or it has no case of this name.
        """
        if path is None:
            text, folder, label = (files("interpulse.explore") / "demo.toml").read_text(encoding="utf-8"), None, "demo"
        else:
            config = Config.load(path)
            text, folder, label = config.text, path.absolute().parent, str(path)
        whole = Config.from_toml(text, path=str(path or "demo.toml"))
        for each in sets:
            whole.set(*parse_set(each))
        names = whole.case_names  # Raises with the file and line where something is wrong.
        if case is not None and case not in names:
            raise ConfigError(f"--case {case}: {label} has no such case; expected one of {', '.join(names)}")
        doc = tomllib.loads(text)
        cases = doc.pop("case", [])
        chosen = names.index(case) if case is not None else len(names) - 1
        own = cases[chosen].get("set", []) if cases else []
        for key, value in (parse_set(each) for each in (*sets, *own)):
            _put(doc, key, typed(value))
        return cls(doc, folder, label)

    def setup(self, state: Mapping[str, str], requests: int, warmup: int = WARMUP) -> Setup:
        """The configuration with the values of the controls, a window of so many requests, and so many before it.

        Raises:
            ConfigError: a changed control does not apply to this configuration.
        """
        changed = {name: value for name, value in state.items() if value != self.configured[name]}
        for name in changed.keys() & self.fixed.keys():
            raise ConfigError(f"{name}: {self.fixed[name]}")
        doc = copy.deepcopy(dict(self._doc))
        suspension = dict(_flat(doc.pop("suspend", {}), "suspend"))
        self._put_load(doc, state, changed)
        self._put_drive(doc, changed)
        run = doc.setdefault("run", {})
        run.pop("time", None)
        run["requests"] = requests
        if self._is_plain_load():
            run["warmup-requests"] = warmup
        doc["seed"] = int(state["seed"])
        sets = [f"{key}={value}" for key, value in _suspension(suspension, state, changed)]
        cases: list[dict[str, Any]] = [{"name": WITHOUT}]
        words = "; ".join(f"{each}s: {state[each]}" for each in OPERATIONS if state[each] != NONE)
        if words:
            cases.append({"name": words, "set": sets})
        return Setup(
            text=_text(doc, cases),
            path=self._path,
            cases=tuple(each["name"] for each in cases),
            requests=requests,
            chosen=words or WITHOUT,
            without=_text(doc, cases[:1]),
        )

    def shapes_state(self, state: Mapping[str, str]) -> bool:
        """Whether the drive has another preconditioned state than the configured one."""
        return any(state[name] != self.configured[name] for name in ("part", "op"))

    def _value(self, key: str, default: str = UNSET) -> str:
        entry = self._entries.get(key)
        return default if entry is None else entry.value

    def _is_plain_load(self) -> bool:
        """Whether a warm-up of a fixed length replaces one whose length depends on the drive."""
        given = any(self._value(f"run.{key}") != UNSET for key in ("warmup", "warmup-requests"))
        return not given and "rate" not in self.fixed and not self._doc.keys() & WITH_EVENTS

    def _read_suspension(self) -> None:
        for operation in OPERATIONS:
            section = f"suspend.{operation}"
            most = self._value(f"{section}.max-suspends")
            self.configured[operation] = self._value(f"{section}.scheme", NONE)
            self.configured[f"{operation}-max"] = "" if most == UNSET else most.replace("_", "")
            self.configured[f"{operation}-interval"] = f"{_us(self._value(f'{section}.min-interval', '0ns')):.10g}"

    def _read_load(self) -> None:
        flows = self._doc.get("flow")
        pacing = self._value("flow.0.pacing")
        single = isinstance(flows, list) and len(flows) == 1
        synthetic = not any(self._value(f"flow.0.{key}") != UNSET for key in ("trace", "twin"))
        defaults = {"load": "rate", "rate": "20000", "depth": "16", "read": "75"}
        if pacing == "closed":
            defaults |= {"load": "depth", "depth": self._value("flow.0.depth", "16").replace("_", "")}
        rate = re.match(r"[\d_.]+", self._value("flow.0.rate"))
        if pacing == "open" and rate:
            defaults["rate"] = f"{float(rate[0].replace('_', '')):.0f}"
        share = _fraction(self._value("flow.0.read"))
        if share is not None:
            defaults["read"] = f"{100 * share:.10g}"
        self.configured |= defaults
        if not single or not synthetic or pacing not in ("open", "closed") or share is None:
            why = "the load of this configuration is no single synthetic flow, and stays as configured"
            self.fixed |= dict.fromkeys(defaults, why)

    def _read_drive(self) -> None:
        self.configured |= {"part": "", "window": AUTOMATIC, "seed": self._value("seed", "0").replace("_", "")}
        share = _fraction(self._value("ftl.over-provisioning"))
        self.configured["op"] = f"{100 * (share or 0):.10g}"
        if share is None or self._value("drive.capacity") != UNSET:
            self.fixed["op"] = "this configuration has no key ftl.over-provisioning that decides its capacity"
        if self._value("part.pages-per-block") == UNSET:
            self.fixed["part"] = "this configuration has no single part"

    def _put_load(self, doc: dict[str, Any], state: Mapping[str, str], changed: Mapping[str, str]) -> None:
        flow = doc["flow"][0] if changed.keys() & {"load", "rate", "depth", "read"} else {}
        if "read" in changed:
            flow["read"] = float(state["read"]) / 100
        if "load" in changed:
            for key in ("rate", "arrivals", "squared-variation", "depth"):
                flow.pop(key, None)
            flow["pacing"] = {"rate": "open", "depth": "closed"}[state["load"]]
        if state["load"] == "rate" and changed.keys() & {"load", "rate"}:
            flow["rate"] = f"{state['rate']}/s"
        if state["load"] == "depth" and changed.keys() & {"load", "depth"}:
            flow["depth"] = int(state["depth"])

    def _put_drive(self, doc: dict[str, Any], changed: Mapping[str, str]) -> None:
        if "op" in changed:
            doc.setdefault("ftl", {})["over-provisioning"] = float(changed["op"]) / 100
        if changed.get("part"):
            doc["part"] = dict(self._part(changed["part"]))

    def _part(self, name: str) -> Iterator[tuple[str, Any]]:
        """Another part: its own times, and a die of about the configured size, with as many planes at most."""
        own = _figures(name)
        yield "preset", name
        for key, entry in self._entries.items():
            short = key.removeprefix("part.")
            if key.startswith("part.") and entry.origin.startswith("drive preset") and short in own:
                yield short, typed(own[short])
        planes = min(int(own["planes"]), int(self._value("part.planes", "1")))
        die = _die_bytes({key.removeprefix("part."): each.value for key, each in self._entries.items()})
        block = int(own["pages-per-block"]) * _size(own["page-size"])
        yield "planes", planes
        blocks = max(int(self._value("part.blocks-per-plane", "96")), die // (planes * block))
        yield "blocks-per-plane", min(blocks, 65_535)


def _suspension(
    configured: Mapping[str, Any], state: Mapping[str, str], changed: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Keys of the chosen suspension and their values; operations that are not suspended have none."""
    for key, value in configured.items():
        operation = key.split(".")[1]
        if operation not in OPERATIONS:
            yield key, _as_set(value)
        elif state[operation] != NONE and not _is_of_other_scheme(key, state[operation]):
            short = {f"suspend.{operation}.scheme": operation, f"suspend.{operation}.max-suspends": f"{operation}-max"}
            short[f"suspend.{operation}.min-interval"] = f"{operation}-interval"
            if short.get(key) not in changed:
                yield key, _as_set(value)
    for operation in OPERATIONS:
        if state[operation] == NONE:
            continue
        if operation in changed:
            yield f"suspend.{operation}.scheme", state[operation]
        if changed.get(f"{operation}-max"):
            yield f"suspend.{operation}.max-suspends", state[f"{operation}-max"]
        if f"{operation}-interval" in changed:
            yield f"suspend.{operation}.min-interval", f"{1000 * float(state[f'{operation}-interval']):.0f}ns"


@cache
def _schemes_of_keys() -> dict[str, frozenset[str]]:
    """Keys that only some schemes have, with these."""
    found: dict[str, set[str]] = {}
    for key in listed()["keys"]:
        for text in key["belongs_to"]:
            scheme = re.fullmatch(r'scheme = "([\w-]+)"', text)
            if key["name"].startswith("suspend.") and scheme:
                found.setdefault(key["name"], set()).add(scheme[1])
    return {key: frozenset(schemes) for key, schemes in found.items()}


def _is_of_other_scheme(key: str, scheme: str) -> bool:
    schemes = _schemes_of_keys().get(key)
    return schemes is not None and scheme not in schemes


@cache
def _figures(part: str) -> dict[str, str]:
    return {entry.key.removeprefix("part."): entry.value for entry in parts.figures(part)}


def _die_bytes(part: Mapping[str, str]) -> int:
    blocks = int(part["planes"]) * int(part["blocks-per-plane"])
    return blocks * int(part["pages-per-block"]) * _size(part["page-size"])


def _size(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)([KMG]?i?B)", text).groups()  # type: ignore[union-attr]
    return int(number) * {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[unit]


def _us(text: str) -> float:
    matched = re.fullmatch(r"([\d.]+)(ns|us|ms|s)", text)
    return float(matched[1]) * {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}[matched[2]] if matched else 0.0


def _fraction(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _put(doc: dict[str, Any], key: str, value: object) -> None:
    """Sets a dotted key."""
    *outer, last = key.split(".")
    at: Any = doc
    for depth, name in enumerate(outer):
        if isinstance(at, list):
            at = at[int(name)]
            continue
        inner = at.get(name)
        if isinstance(inner, str) and depth == 0 and name in ("drive", "part"):
            inner = {"preset": inner}  # The short form of both.
        if inner is None:
            inner = {}
        at[name] = inner
        at = inner
    at[last] = value


def _flat(table: Mapping[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = f"{place}.{key}"
        if isinstance(value, Mapping) and "value" not in value:
            yield from _flat(value, name)
        else:
            yield name, value["value"] if isinstance(value, Mapping) else value


def _as_set(value: object) -> str:
    return value if isinstance(value, str) else literal(value)


def _text(doc: Mapping[str, Any], cases: Sequence[Mapping[str, Any]] = ()) -> str:
    """A configuration as TOML with a section for each table."""
    tables = {key: value for key, value in doc.items() if isinstance(value, Mapping)}
    lists = {key: value for key, value in doc.items() if _is_tables(value)} | ({"case": cases} if cases else {})
    plain = {key: value for key, value in doc.items() if key not in tables and key not in lists}
    blocks = [toml(plain), *(f"[{key}]\n{toml(value)}" for key, value in tables.items())]
    blocks += [f"[[{key}]]\n{toml(each)}" for key, value in lists.items() for each in value]
    return "\n".join(blocks)


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)
