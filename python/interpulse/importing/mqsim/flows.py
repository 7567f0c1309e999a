"""Flows of MQSim's scenarios."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from interpulse._core import ConfigError
from interpulse.files.paths import open_file, shown
from interpulse.importing.draft import Draft
from interpulse.importing.flash import size_text
from interpulse.importing.mqsim.device import Device
from interpulse.importing.parameters import Values

SECTOR = 512
_MOST_SIZES = 48
_IDS = ("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs")
_COUNTS = ("Flash_Channel_Count", "Chip_No_Per_Channel")
_PLANES = ("Die_No_Per_Chip", "Plane_No_Per_Die")
_MOST_PLANES = 1 << 20


@dataclass
class Flow:
    """One flow with its values; `share` is that of the drive which it addresses."""

    values: Values
    number: int
    folder: Path
    is_trace: bool
    share: float = 1.0

    @property
    def size(self) -> int:
        """Mean size of its requests in bytes; 0 of a trace."""
        return 0 if self.is_trace else int(self.values.need("Average_Request_Size")) * SECTOR

    @property
    def reads_only(self) -> bool:
        """Whether it never writes, as far as the file says."""
        return not self.is_trace and self.values.need("Read_Percentage") == 100

    @property
    def granularity(self) -> int:
        """What all its addresses and sizes are multiples of, in bytes."""
        if self.is_trace or self.values["Request_Size_Distribution"] == "NORMAL":
            return SECTOR
        aligned = self.values["Generated_Aligned_Addresses"]
        alignment = self.values["Address_Alignment_Unit"] if aligned else 1
        return math.gcd(self.size, alignment * SECTOR)


def add_flows(draft: Draft, device: Device, flows: list[Flow]) -> None:
    """Adds the flows of a scenario, each with its part of the drive."""
    if not flows:
        return
    _shares(draft, device, flows)
    start = 0.0
    stops = []
    for flow in flows:
        draft.assume(f"flow.{flow.number}.name", f"flow-{flow.number + 1}", "number of the flow in its scenario")
        draft.assume(f"flow.{flow.number}.queue", flow.number, "each flow has a queue pair")
        if flow.is_trace:
            _trace(draft, flow, device.as_written, len(flows))
        else:
            stops.append(_synthetic(draft, flow, start))
        start += flow.share
    if stops and all(stops):
        names = [flow for flow in flows if not flow.is_trace]
        if len(names) == len(flows):
            draft.set("run.time", f"{max(stops)}ns", names[0].values, "Stop_Time")


def _shares(draft: Draft, device: Device, flows: list[Flow]) -> None:
    """The part of the drive of each flow: a plane that several flows list is divided among them."""
    axes = [device.drive[name] for name in _COUNTS] + [device.flash[name] for name in _PLANES]
    lists = [[_ids(flow.values, name, count) for name, count in zip(_IDS, axes, strict=True)] for flow in flows]
    if all(ids == tuple(range(count)) for each in lists for ids, count in zip(each, axes, strict=True)):
        shares = [1 / len(flows)] * len(flows)
    elif math.prod(axes) > _MOST_PLANES:
        raise flows[0].values.refuse(_IDS[0], f"all of them on a drive of more than {_MOST_PLANES} planes")
    else:
        users = Counter(plane for each in lists for plane in product(*each))
        shares = [sum(1 / users[plane] for plane in product(*each)) / math.prod(axes) for each in lists]
        draft.note("Flows share all dies; of channels, chips, dies and planes of their own only the capacity is kept.")
    for flow, share in zip(flows, shares, strict=True):
        flow.share = share


def _ids(values: Values, name: str, count: int) -> tuple[int, ...]:
    ids: tuple[int, ...] = values[name] or tuple(range(count))
    if ids[-1] >= count:
        raise values.refuse(name, f"numbers from 0 to {count - 1}, as many as the drive has")
    return ids


def _synthetic(draft: Draft, flow: Flow, start: float) -> int:
    values, key = flow.values, f"flow.{flow.number}"
    percent = values.need("Working_Set_Percentage")
    used = percent if 1 <= percent <= 100 else 100
    draft.set(f"{key}.from", round(start, 9), values, *(name for name in _IDS if values.given(name)))
    draft.set(f"{key}.to", round(min(start + flow.share * used / 100, 1), 9), values, "Working_Set_Percentage")
    for name in _IDS:
        if values.given(name):
            draft.link(f"{key}.from", values, name)
            draft.link(f"{key}.to", values, name)
    draft.set(f"{key}.read", values.need("Read_Percentage") / 100, values, "Read_Percentage")
    _pacing(draft, flow)
    _sizes(draft, flow)
    _addresses(draft, flow)
    draft.unused(values, "the seed of the drive is that of every random stream", "Seed")
    stop = int(values["Stop_Time"])
    total = values["Total_Requests_To_Generate"]
    if stop:
        draft.set(f"{key}.stop", f"{stop}ns", values, "Stop_Time")
        draft.unused(values, "Stop_Time ends the flow", "Total_Requests_To_Generate")
    elif total:
        draft.set(f"{key}.requests", total, values, "Total_Requests_To_Generate")
        draft.unused(values, "0: the flow ends after Total_Requests_To_Generate", "Stop_Time")
    else:
        raise values.refuse(
            "Total_Requests_To_Generate", "at least 1 if Stop_Time is 0 (the flow would have no request)"
        )
    return stop


def _pacing(draft: Draft, flow: Flow) -> None:
    values, key = flow.values, f"flow.{flow.number}"
    if values.need("Synthetic_Generator_Type") == "QUEUE_DEPTH":
        draft.set(f"{key}.pacing", "closed", values, "Synthetic_Generator_Type")
        depth = values.need("Average_No_of_Reqs_in_Queue")
        if not depth:
            raise values.refuse("Average_No_of_Reqs_in_Queue", "at least 1 (the flow would have no request)")
        draft.set(f"{key}.depth", depth, values, "Average_No_of_Reqs_in_Queue")
        draft.unused(values, "Synthetic_Generator_Type is QUEUE_DEPTH", "Bandwidth")
        return
    draft.set(f"{key}.pacing", "open", values, "Synthetic_Generator_Type")
    bandwidth = values.need("Bandwidth")
    each_second = bandwidth // SECTOR // values.need("Average_Request_Size")
    if each_second < 1:
        raise values.refuse("Bandwidth", "at least one request of Average_Request_Size per second")
    gap = 10**9 // each_second
    if gap < 1:
        raise values.refuse("Bandwidth", "at most 1,000,000,000 requests per second")
    draft.set(f"{key}.rate", f"{1e9 / gap:.6f}/s", values, "Bandwidth")
    draft.assume(f"{key}.arrivals", "poisson", "MQSim draws exponential gaps")
    draft.link(f"{key}.arrivals", values, "Bandwidth")
    draft.unused(values, "Synthetic_Generator_Type is BANDWIDTH", "Average_No_of_Reqs_in_Queue")


def _sizes(draft: Draft, flow: Flow) -> None:
    values, key = flow.values, f"flow.{flow.number}"
    mean, deviation = values.need("Average_Request_Size"), values["Variance_Request_Size"]
    names = ("Request_Size_Distribution", "Average_Request_Size", "Variance_Request_Size")
    if values["Request_Size_Distribution"] == "FIXED" or not deviation:
        draft.set(f"{key}.block-size", size_text(mean * SECTOR), values, "Average_Request_Size")
        draft.link(f"{key}.block-size", values, "Request_Size_Distribution")
        draft.unused(values, "all requests have one size", "Variance_Request_Size")
        return
    sizes, weights = normal_sizes(mean, deviation)
    draft.set(f"{key}.sizes", [size_text(size * SECTOR) for size in sizes], values, *names)
    draft.set(f"{key}.size-weights", weights, values, *names)
    for name in ("sizes", "size-weights"):
        draft.link(f"{key}.{name}", values, *names)


def normal_sizes(mean: int, deviation: int) -> tuple[list[int], list[float]]:
    """Sizes in sectors and their weights: a normal distribution rounded up, at least 1, at most 16 MiB."""
    low, high = max(1, mean - 4 * deviation), min(mean + 4 * deviation, (16 << 20) // SECTOR)
    step = max(1, math.ceil((high - low + 1) / _MOST_SIZES))

    def below(limit: float) -> float:
        return 0.5 * (1 + math.erf((limit - mean) / (deviation * math.sqrt(2))))

    sizes, weights = [], []
    for size in range(low, high + 1, step):
        first, last = size == low, size + step > high
        weight = (1.0 if last else below(size + step - 1)) - (0.0 if first else below(size - 1))
        if weight > 1e-9:
            sizes.append(size + (step - 1) // 2)
            weights.append(round(weight, 9))
    return sizes, weights


def _addresses(draft: Draft, flow: Flow) -> None:
    values, key = flow.values, f"flow.{flow.number}"
    pattern = values.need("Address_Distribution")
    if pattern == "MIXED_STREAMING_RANDOM":
        raise values.refuse("Address_Distribution", "STREAMING, RANDOM_UNIFORM or RANDOM_HOTCOLD (MQSim stops on it)")
    ours = {"STREAMING": "sequential", "RANDOM_UNIFORM": "uniform", "RANDOM_HOTCOLD": "hot-cold"}[pattern]
    draft.set(f"{key}.address", ours, values, "Address_Distribution")
    hot = values["Percentage_of_Hot_Region"]
    if pattern == "RANDOM_HOTCOLD":
        if not 1 <= hot <= 99:
            raise values.refuse("Percentage_of_Hot_Region", "1 to 99 with RANDOM_HOTCOLD")
        draft.set(f"{key}.hot-share", hot / 100, values, "Percentage_of_Hot_Region")
        draft.set(f"{key}.hot-traffic", round(1 - hot / 100, 9), values, "Percentage_of_Hot_Region")
    else:
        draft.unused(values, f"Address_Distribution is {pattern}", "Percentage_of_Hot_Region")
    if not values["Generated_Aligned_Addresses"]:
        draft.set(f"{key}.alignment", size_text(SECTOR), values, "Generated_Aligned_Addresses")
        draft.unused(values, "Generated_Aligned_Addresses is false", "Address_Alignment_Unit")
        return
    sectors = values["Address_Alignment_Unit"]
    if not sectors:
        raise values.refuse("Address_Alignment_Unit", "at least 1 with Generated_Aligned_Addresses")
    draft.set(f"{key}.alignment", size_text(sectors * SECTOR), values, "Address_Alignment_Unit")
    draft.link(f"{key}.alignment", values, "Generated_Aligned_Addresses")


def _trace(draft: Draft, flow: Flow, as_written: bool, flows: int) -> None:
    values, key = flow.values, f"flow.{flow.number}"
    path = Path(values.need("File_Path"))
    path = path if path.is_absolute() else flow.folder / path
    draft.set(f"{key}.trace", str(path.absolute()), values, "File_Path")
    draft.assume(f"{key}.format", "mqsim", "MQSim reads one format")
    draft.link(f"{key}.format", values, "File_Path")
    draft.assume(f"{key}.pacing", "recorded", "MQSim submits each request at its time")
    draft.assume(f"{key}.fit", "fold", "MQSim takes addresses beyond the drive modulo its size")
    if as_written and values["Time_Unit"] == "MICROSECOND":
        draft.set(f"{key}.time-unit", "us", values, "Time_Unit")
    elif as_written and values["Time_Unit"] == "PICOSECOND":
        raise values.refuse("Time_Unit", "NANOSECOND or MICROSECOND (times of interpulse are whole ns)")
    else:
        draft.set(f"{key}.time-unit", "ns", values, "Time_Unit")
        if values["Time_Unit"] != "NANOSECOND":
            draft.note(f"MQSim ignores Time_Unit {values['Time_Unit']}: times of the trace are ns.")
    passes, percent = values["Relay_Count"], values["Percentage_To_Be_Executed"]
    draft.set(f"{key}.repeat", passes, values, "Relay_Count")
    if passes > 1:
        draft.note("MQSim counts the arrival times of later passes twice; here they continue.")
        draft.unused(values, "MQSim takes all rows if Relay_Count is above 1", "Percentage_To_Be_Executed")
    elif percent < 100:
        rows = _rows(values, path)
        if rows * percent // 100 < 1:
            raise values.refuse("Percentage_To_Be_Executed", f"at least one of the {rows} rows of {shown(path)}")
        draft.set(f"{key}.requests", rows * percent // 100, values, "Percentage_To_Be_Executed")
    else:
        draft.unused(values, "all rows", "Percentage_To_Be_Executed")
    if not path.is_file():
        draft.note(f"The trace {shown(path)} does not exist: put it there, or name it with `interpulse run --trace`.")
    if flows > 1:
        draft.note("A trace addresses the whole drive; in MQSim each flow has a part of its own.")


def _rows(values: Values, path: Path) -> int:
    """Rows of a trace: MQSim stops at the first line that has not five columns."""
    rows = 0
    try:
        with open_file(path) as file:
            for line in file:
                if len(line.split()) != 5:
                    break
                rows += 1
    except OSError as error:
        why = error.strerror or error
        where = f"{values.file}:{values.line}: {values.section}"
        raise ConfigError(f"{where}: Percentage_To_Be_Executed needs the rows of {shown(path)}: {why}") from None
    return rows
