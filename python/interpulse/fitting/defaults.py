"""Default bounds and priors of a fit, from the values of shipped parts and drives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from interpulse.configuration.config import Config
from interpulse.configuration.lists import listed
from interpulse.fitting import quantity
from interpulse.fitting.times import TIMES, time_of

FITTED = "interpulse fit of"
"""Start of the source text of fitted values."""


@cache
def _keys() -> dict[str, dict[str, Any]]:
    return {key["name"]: key for key in reversed(listed()["keys"])}


def declared(name: str) -> dict[str, Any] | None:
    """The declaration of a setting, or None."""
    return _keys().get(re.sub(r"\.\d+(?=\.)", ".N", name))


def shipped_values(name: str, values: Mapping[str, str]) -> list[float]:
    """The values of a setting, or of a time of a part, in shipped parts and drives.

    Settings of a part use only parts with as many bits per cell as `values`.
    """
    of_part = name.startswith("part.") or name in TIMES
    found = []
    for each in (*_parts(), *_drives()) if of_part else _drives():
        if of_part and each.get("part.bits-per-cell") != values.get("part.bits-per-cell"):
            continue
        if name in TIMES:
            for key, share in [*time_of(name, each).items()][:1]:
                found.append(quantity.read(each[key], "a duration", key) / share)
        elif re.match(r"\d", each.get(name, "")) and float(re.match(r"[\d.]+", each[name])[0]) > 0:  # type: ignore[index]
            kind = declared(name)
            assert kind is not None
            found.append(quantity.read(each[name], kind["holds"], name))
    return sorted(set(found))


@cache
def _parts() -> tuple[dict[str, str], ...]:
    from interpulse.flash.parts import one_die

    return tuple(_of(one_die(each["name"])) for each in listed()["parts"])


@cache
def _drives() -> tuple[dict[str, str], ...]:
    texts = [f'drive = "{each["name"]}"\n[run]\nrequests = 1\n[[flow]]\n' for each in listed()["drives"]]
    return tuple(_of(Config.from_toml(text)) for text in texts)


def _of(config: Config) -> dict[str, str]:
    """The known values of a drive, without fitted ones: otherwise a second fit would use the first as a prior."""
    return {entry.key: entry.value for entry in config.entries() if FITTED not in entry.origin}
