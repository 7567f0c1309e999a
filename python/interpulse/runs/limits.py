"""What bounds the throughput of a run, in words."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAMES = {
    "dies": "the dies",
    "channels": "the channels",
    "command_buses": "the buses for commands",
    "decoders": "the decoders",
    "link_to_drive": "the link to the drive",
    "link_to_host": "the link to the host",
    "dram": "the bus of the DRAM",
    "firmware": "the firmware cores",
    "firmware_mapping": "the firmware cores of map look-ups",
    "firmware_collection": "the firmware cores of collection",
}
"""Resources with a utilization."""

ALONE = {
    "one_die": ("dies", "one die"),
    "one_channel": ("channels", "one channel"),
    "one_command_bus": ("command_buses", "one bus for commands"),
    "one_decoder": ("decoders", "one decoder"),
}
"""Bounds that are the busiest one of several resources."""

APART = {
    "power_budget": "the power budget (power.budget)",
    "zone_dies": "the dies of the zones that are written at a time (ftl.zone-width)",
}
"""Bounds whose utilization is of another kind, and is named with them alone."""

OTHERS = {
    "offered_load": "the offered load",
    "write_back": "room in the write cache",
    "command_slots": "the commands that the drive fetches at a time (host.frame-buffer, host.queue-depth)",
    "queue_depth": "the queue depth",
}
"""Bounds that are no resource."""

CAUSES = {
    "host_reads": "other host reads",
    "gc": "garbage collection",
    "bus": "a channel",
    "own_program": "their own programs",
    "cache": "the write cache",
    "queue": "a fetch by the drive",
    "mapping": "map entries",
    "fault": "a stalled die, channel or firmware",
    "read_cache": "reads in flight",
    "stop": "a stop of a program or erase",
    "suspend": "a suspension",
    "power": "the power budget",
}
"""Causes of latency whose names need other words after `for`."""

NAMED = 3
"""Most causes that outstanding requests are said to wait for."""

MUCH_MORE = 1.3
"""Least ratio of the commands of the busiest drive to those of the mean drive that names it."""

LEAST = 0.1
"""Least share of the outstanding requests that names a cause."""


def limited_by(raw: Mapping[str, Any]) -> str:
    """What bounds the throughput of a case or seed, with the utilization of resources; empty if it is unknown."""
    limits: Mapping[str, Any] = raw.get("limits", {})
    bound = limits.get("bound")
    if bound is None:
        return ""
    use = limits["utilization"]
    if bound == "power_budget":
        return f"{APART[bound]}: for {_percent(use[bound]['mean'])} of the window a die waits for a share of it"
    if bound == "zone_dies":
        all_dies = _percent(use["dies"]["mean"])
        return f"{APART[bound]}, {_percent(use[bound]['mean'])} busy with programs; all dies {all_dies}"
    if bound in ALONE or "drive" in limits:
        kind = ALONE[bound][0] if bound in ALONE else bound
        busiest, mean = (_percent(use[kind][which]) for which in ("busiest", "mean"))
        return f"{bound_name(raw)}, {busiest} busy; all {_plain(kind)} {mean}"
    if bound in NAMES:
        return f"{NAMES[bound]}, {_percent(use[bound]['mean'])} busy{_doing(raw, bound)}"
    return f"{OTHERS[bound]}{_waiting(raw)}; {_busiest(use)}"


def bound_name(raw: Mapping[str, Any]) -> str:
    """Name of what bounds the throughput of a case or seed; empty if it is unknown."""
    limits = raw.get("limits", {})
    bound = limits.get("bound", "")
    name = NAMES.get(bound) or (ALONE[bound][1] if bound in ALONE else OTHERS.get(bound) or APART.get(bound, ""))
    return f"{name} of drive {limits['drive']}" if "drive" in limits else name


def lies_on_few_dies(raw: Mapping[str, Any]) -> bool:
    """Whether dies are idle because a dynamic allocation leaves consecutive data together: of a load in order alone."""
    bound = raw.get("limits", {}).get("bound")
    allocation = str(raw.get("config", {}).get("ftl.allocation", "")).strip('"')
    return bound in ("queue_depth", *ALONE) and allocation == "dynamic"


def _percent(share: float) -> str:
    return f"{100 * min(share, 1.0):.0f} %"


def _doing(raw: Mapping[str, Any], bound: str) -> str:
    """What dies are busy with."""
    shares = raw.get("time_share", {})
    if bound != "dies" or not shares:
        return ""
    uses = {name: share for name, share in shares.items() if name != "idle" and share >= LEAST}
    most = sorted(uses.items(), key=lambda pair: -pair[1])[:NAMED]
    named = (f"{name.replace('_', ' ')} {_percent(share)}" for name, share in most)
    return f" ({', '.join(named)})"


def _plain(kind: str) -> str:
    return NAMES[kind].removeprefix("the ")


def _waiting(raw: Mapping[str, Any]) -> str:
    """How many requests are outstanding and what they wait for, by Little's law; of an array, commands by drive."""
    by_cause: Mapping[str, float] = raw["limits"].get("outstanding", {})
    if "array" in raw:
        return _commands(raw, by_cause)
    total = sum(by_cause.values())
    if not total:
        return ""
    most = sorted(by_cause.items(), key=lambda pair: -pair[1])[:NAMED]
    named = [f"{n:.3g} for {CAUSES.get(name, name)}" for name, n in most if n >= LEAST * total]
    return f": of {total:.3g} outstanding requests {', '.join(named)}"


def _commands(raw: Mapping[str, Any], of_drives: Mapping[str, float]) -> str:
    """Outstanding requests of an array, and commands of its drives."""
    mean = raw.get("latency_us", {}).get("all", {}).get("mean")
    if not of_drives or mean is None:
        return ""
    busiest, total = max(of_drives, key=lambda name: of_drives[name]), sum(of_drives.values())
    least, most = min(of_drives.values()), of_drives[busiest]
    each = f"{least:.3g} to {most:.3g}" if f"{least:.3g}" != f"{most:.3g}" else f"{most:.3g}"
    named = f", most at {busiest.replace('_', ' ')}" if most > MUCH_MORE * total / len(of_drives) else ""
    return f": {raw['iops'] * mean / 1e6:.3g} outstanding requests, {each} commands at each drive{named}"


def _busiest(use: Mapping[str, Mapping[str, float]]) -> str:
    return ", ".join(
        f"{_plain(name)} {_percent(of['mean'])} busy"
        for name, of in use.items()
        if of["mean"] >= LEAST and name in NAMES
    ) or ("every resource less than 10 % busy")
