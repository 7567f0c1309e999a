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
}
"""Bounds that are the busiest one of several resources."""

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
}
"""Causes of latency whose names need other words after `for`."""

NAMED = 3
"""Most causes that outstanding requests are said to wait for."""

LEAST = 0.1
"""Least share of the outstanding requests that names a cause."""


def limited_by(raw: Mapping[str, Any]) -> str:
    """What bounds the throughput of a case or seed, with the utilization of resources; empty if it is unknown."""
    limits: Mapping[str, Any] = raw.get("limits", {})
    bound = limits.get("bound")
    if bound is None:
        return ""
    use = limits["utilization"]
    if bound in NAMES:
        said = f"{NAMES[bound]}, {_percent(use[bound]['mean'])} busy{_doing(raw, bound)}"
    elif bound in ALONE:
        kind, name = ALONE[bound]
        said = f"{name}, {_percent(use[kind]['busiest'])} busy; all {kind} {_percent(use[kind]['mean'])}"
    else:
        said = f"{OTHERS[bound]}{_waiting(limits)}; {_busiest(use)}"
    return said


def bound_name(raw: Mapping[str, Any]) -> str:
    """Name of what bounds the throughput of a case or seed; empty if it is unknown."""
    bound = raw.get("limits", {}).get("bound", "")
    return NAMES.get(bound) or (ALONE[bound][1] if bound in ALONE else OTHERS.get(bound, ""))


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


def _waiting(limits: Mapping[str, Any]) -> str:
    """How many requests are outstanding and what they wait for, by Little's law."""
    by_cause: Mapping[str, float] = limits.get("outstanding", {})
    total = sum(by_cause.values())
    if not total:
        return ""
    most = sorted(by_cause.items(), key=lambda pair: -pair[1])[:NAMED]
    named = [f"{n:.3g} for {CAUSES.get(name, name)}" for name, n in most if n >= LEAST * total]
    return f": of {total:.3g} outstanding requests {', '.join(named)}"


def _busiest(use: Mapping[str, Mapping[str, float]]) -> str:
    return ", ".join(
        f"{NAMES[name].removeprefix('the ')} {_percent(of['mean'])} busy"
        for name, of in use.items()
        if of["mean"] >= LEAST
    ) or ("every resource less than 10 % busy")
