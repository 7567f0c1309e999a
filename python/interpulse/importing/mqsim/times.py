"""Times of MQSim's host interface, channel and DRAM, and of our link, in nanoseconds."""

from __future__ import annotations

import math
from dataclasses import dataclass

COMMAND_NS = 290
"""Chip select, six cycles, and waits of its read command (`ONFI_Channel_NVDDR2.cpp`)."""
READY_NS = 20
"""Ready/busy delay after each read (`Flash_Chip.h`)."""
PAYLOAD = 128
"""Largest payload of its packets (`PCIe_Link.h`)."""
_HEADER = 28
_SUBMISSION, _COMPLETION, _DOORBELL = 72, 16, 2

_RAW_RATES = (2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9)
"""Raw bits per second of a lane of each PCIe generation."""
_LANES = (1, 2, 4, 8, 16)
_PAYLOADS = (128, 256, 512, 1024, 2048, 4096)
_ENTRIES = (64, 16)
"""Bytes of a submission and of a completion queue entry."""


@dataclass(frozen=True)
class Link:
    """PCIe link of ours."""

    generation: int
    lanes: int
    payload: int


def messages_ns(size: int, bandwidth: float, lanes: int) -> int:
    """Time of the messages of one read of MQSim's NVMe interface, its data included.

    Args:
        size: bytes read.
        bandwidth: GB/s of a lane.
        lanes: number of lanes.
    """

    def written(payload: int) -> int:
        full, rest = divmod(payload, PAYLOAD)
        total = full * (PAYLOAD + _HEADER) + (rest + _HEADER if rest else 0)
        return int(math.ceil(total / lanes) / bandwidth)

    fetch = int(math.ceil((_HEADER + 4) / lanes) / bandwidth)
    # The doorbell of the completion queue goes before that of the next submission.
    return 2 * written(_DOORBELL) + fetch + written(_SUBMISSION) + written(size) + written(_COMPLETION)


def message_rate(bandwidth: float, lanes: int) -> float:
    """Data bytes per second of MQSim's link."""
    return bandwidth * lanes * 1e9 * PAYLOAD / (PAYLOAD + _HEADER)


def link_rate(link: Link) -> float:
    """Bytes per second of our link, as `host_interface/link/pcie.rs` counts them."""
    code = 8 / 10 if link.generation <= 2 else 128 / 130 if link.generation <= 5 else 242 / 256
    raw = _RAW_RATES[link.generation - 1] / 8 * link.lanes * code
    return raw * link.payload / (link.payload + 24) * 0.97


def link_ns(size: int, link: Link) -> int:
    """Time of our link for a read: command, data and completion."""
    fs = round(1e15 / link_rate(link))
    return -(-_ENTRIES[0] * fs // 1_000_000) + -(-(size + _ENTRIES[1]) * fs // 1_000_000)


def nearest_link(bandwidth: float, lanes: int, size: int, limit_ns: int) -> Link:
    """The link whose rate is nearest to MQSim's, of those that take at most `limit_ns` for a read of `size` bytes.

    The number of lanes is kept if PCIe has it.
    """
    wanted = message_rate(bandwidth, lanes)
    counts = (lanes,) if lanes in _LANES else _LANES
    links = [Link(g, n, p) for g in range(1, len(_RAW_RATES) + 1) for n in counts for p in _PAYLOADS]
    fast = [each for each in links if link_ns(size, each) <= limit_ns]
    return min(fast or links, key=lambda each: abs(math.log(link_rate(each) / wanted)))


def dram_ns(size: int, row: int, burst: int, rate_mt: int, trcd: int, tcl: int, trp: int) -> int:
    """Time of one access to MQSim's DRAM."""
    transfer = 1000 / rate_mt
    if size <= row:
        return trcd + tcl + int(size // burst // 2 * transfer)
    rows = (trcd + tcl + int(row // burst // 2 * transfer + trp)) * (size // row // 2)
    return rows + trcd + tcl + int((size % row) / (burst * transfer))
