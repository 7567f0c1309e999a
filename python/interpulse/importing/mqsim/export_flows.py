"""Flows of a configuration as flows of an MQSim scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError
from interpulse.importing.mqsim.export_geometry import dies_and_planes
from interpulse.importing.mqsim.flows import SECTOR

if TYPE_CHECKING:
    from interpulse.importing.resolved import Resolved

_PATTERNS = {"sequential": "STREAMING", "uniform": "RANDOM_UNIFORM", "hot-cold": "RANDOM_HOTCOLD"}


def scenario(found: Resolved, notes: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """Element name and values of each flow; adds to `notes` what differs.

    Raises:
        ConfigError: a flow has a load that MQSim does not have at all.
    """
    count = found.count("flow")
    flows = []
    for number in range(count):
        key = f"flow.{number}"
        for kind in ("twin", "zones"):
            if found.has(f"{key}.{kind}"):
                raise ConfigError(
                    f"{key}.{kind}: MQSim has no such load; expected a flow with distributions or a trace"
                )
        values = _common(found, key, number)
        if found.has(f"{key}.trace"):
            flows.append(("IO_Flow_Parameter_Set_Trace_Based", values | _trace(found, key, notes)))
        else:
            flows.append(("IO_Flow_Parameter_Set_Synthetic", values | _synthetic(found, key, number, count, notes)))
    found.text("run.warmup")
    return flows


def _common(found: Resolved, key: str, number: int) -> dict[str, Any]:
    read_cache, write = found.has("read-cache.size"), found.size("cache.size") > 0
    both = found.text("read-cache.fill-on-write", "false") == "true"
    modes = {(False, False): "TURNED_OFF", (True, False): "READ_CACHE", (False, True): "WRITE_CACHE"}
    found.text("read-cache.replacement")
    mode = modes.get((read_cache, write), "WRITE_READ_CACHE" if both or read_cache else "WRITE_CACHE")
    classes = [each.strip() for each in found.text("host.queue-classes", "[]").strip("[]").split(",") if each.strip()]
    queue = found.whole(f"{key}.queue", number)
    priority = classes[queue if queue < len(classes) else 0] if classes else "high"
    axes = {
        "Channel_IDs": found.whole("geometry.channels"),
        "Chip_IDs": found.whole("geometry.chips-per-channel"),
        "Die_IDs": dies_and_planes(found)[0],
        "Plane_IDs": dies_and_planes(found)[1],
    }
    found.text(f"{key}.name")
    return {
        "Priority_Class": priority.upper(),
        "Device_Level_Data_Caching_Mode": mode,
        **{name: ",".join(map(str, range(count))) for name, count in axes.items()},
        "Initial_Occupancy_Percentage": max(round(found.number("precondition.fill", 1.0) * 100), 1),
    }


def _synthetic(found: Resolved, key: str, number: int, count: int, notes: list[str]) -> dict[str, Any]:
    start, end = found.number(f"{key}.from", 0.0), found.number(f"{key}.to", 1.0)
    working = max(1, min(round((end - start) * count * 100), 100))
    if abs(start - number / count) > 1e-6:
        notes.append(f"{key}.from is {start:g}; in MQSim the flow starts at {number / count:g} of the drive.")
    read, pattern = found.number(f"{key}.read", 1.0), found.text(f"{key}.address", "uniform")
    if pattern not in _PATTERNS:
        notes.append(f"{key}.address is {pattern}, which MQSim does not have; it gets RANDOM_UNIFORM.")
    if abs(read * 100 - round(read * 100)) > 1e-6:
        notes.append(f"{key}.read is {read:g}; MQSim takes whole per cent.")
    hot, traffic = found.number(f"{key}.hot-share", 0.0), found.number(f"{key}.hot-traffic", 0.0)
    if pattern == "hot-cold" and abs(traffic - (1 - hot)) > 0.01:
        notes.append(f"{key}.hot-traffic is {traffic:g}; MQSim sends {1 - hot:g} of the requests to the hot region.")
    sectors = found.size(f"{key}.alignment", 4096) // SECTOR
    return {
        "Working_Set_Percentage": working,
        "Read_Percentage": round(read * 100),
        "Address_Distribution": _PATTERNS.get(pattern, "RANDOM_UNIFORM"),
        "Percentage_of_Hot_Region": min(max(round(hot * 100), 1), 99) if pattern == "hot-cold" else 0,
        "Generated_Aligned_Addresses": "true" if sectors > 1 else "false",
        "Address_Alignment_Unit": sectors,
        **_sizes(found, key, notes),
        "Seed": 798 + number,
        **_pacing(found, key),
        **_end(found, key, count, notes),
    }


def _sizes(found: Resolved, key: str, notes: list[str]) -> dict[str, Any]:
    size = found.size(f"{key}.block-size", 4096)
    deviation = 0
    if found.has(f"{key}.sizes"):
        texts = [each.strip() for each in found.text(f"{key}.sizes").strip("[]").split(",")]
        weights = [float(each) for each in found.text(f"{key}.size-weights").strip("[]").split(",")]
        units = {"KiB": 1024, "MiB": 1 << 20, "B": 1}
        sizes = [next(float(t.removesuffix(u)) * f for u, f in units.items() if t.endswith(u)) for t in texts]
        total = sum(weights)
        mean = sum(s * w for s, w in zip(sizes, weights, strict=True)) / total
        deviation = round(
            (sum((s - mean) ** 2 * w for s, w in zip(sizes, weights, strict=True)) / total) ** 0.5 / SECTOR
        )
        size = round(mean / SECTOR) * SECTOR
        notes.append(f"{key}.sizes: MQSim gets a normal distribution with the mean and the deviation of the sizes.")
    return {
        "Request_Size_Distribution": "NORMAL" if deviation else "FIXED",
        "Average_Request_Size": max(size // SECTOR, 1),
        "Variance_Request_Size": deviation,
    }


def _pacing(found: Resolved, key: str) -> dict[str, Any]:
    if found.text(f"{key}.pacing", "closed") == "closed":
        depth = found.whole(f"{key}.depth", 1)
        return {"Synthetic_Generator_Type": "QUEUE_DEPTH", "Average_No_of_Reqs_in_Queue": depth, "Bandwidth": 0}
    text = found.text(f"{key}.rate")
    factor = 1e6 if "M" in text else 1e3 if "k" in text else 1.0
    digits = "".join(c for c in text.partition("/")[0] if c.isdigit() or c in ".e+-")
    size = found.size(f"{key}.block-size", 4096)
    found.text(f"{key}.arrivals")
    bandwidth = round(float(digits) * factor * size)
    return {"Synthetic_Generator_Type": "BANDWIDTH", "Average_No_of_Reqs_in_Queue": 1, "Bandwidth": bandwidth}


def _end(found: Resolved, key: str, count: int, notes: list[str]) -> dict[str, Any]:
    stop = found.ns(f"{key}.stop") if found.has(f"{key}.stop") else 0
    if not stop and found.has("run.time") and not found.has(f"{key}.requests"):
        stop = found.ns("run.time")
    if stop:
        found.text("run.time")
        return {"Stop_Time": stop, "Total_Requests_To_Generate": 0}
    requests = found.whole(f"{key}.requests") or found.whole("run.requests") // count
    if found.has("run.requests") and count > 1:
        notes.append("run.requests is divided among the flows.")
    if not requests:
        raise ConfigError(f"{key}: nothing ends the flow in MQSim; expected requests, stop, run.requests or run.time")
    return {"Stop_Time": 0, "Total_Requests_To_Generate": min(requests, 2**31 - 1)}


def _trace(found: Resolved, key: str, notes: list[str]) -> dict[str, Any]:
    path = found.text(f"{key}.trace")
    if found.text(f"{key}.format", "auto") != "mqsim":
        notes.append(f"{key}.trace: MQSim reads its own format only; {path} must have it, with times in ns.")
    for option in ("pacing", "fit", "time-unit", "repeat"):
        found.text(f"{key}.{option}")
    passes = found.whole(f"{key}.repeat", 1)
    return {"File_Path": path, "Percentage_To_Be_Executed": 100, "Relay_Count": passes, "Time_Unit": "NANOSECOND"}
