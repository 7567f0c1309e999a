"""Flash geometry that other simulators have and ours does not: small pages, and the unit of the map."""

from __future__ import annotations

_LEAST = 4096
_LEFT_BLOCKS = 4
_UNITS = (32768, 16384, 8192, 4096)


def size_text(size: int) -> str:
    """Bytes with the largest unit of which they are a whole number."""
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size and size % (1 << power) == 0:
            return f"{size >> power}{unit}"
    return f"{size}B"


def pages(size: int, count: int) -> tuple[int, int, str]:
    """Page size and pages of a block, pages below 4 KiB joined; and a remark about that, or ""."""
    if size >= _LEAST or size <= 0 or _LEAST % size or count % (_LEAST // size):
        return size, count, ""
    joined = _LEAST // size
    note = f"{joined} pages of {size} B are one of {_LEAST} B, the smallest unit of the map; it takes the time of one."
    return _LEAST, count // joined, note


def mapping_unit(page: int, granularities: list[int]) -> int:
    """The largest unit of the map that divides a page and all granularities, or 4 KiB."""
    for unit in _UNITS:
        if page % unit == 0 and all(each % unit == 0 for each in granularities):
            return unit
    return _LEAST


def free_share(wanted: float, spare: float, blocks: int) -> tuple[float, str]:
    """Share of the blocks at which collection starts, and a remark if it is not the wanted one, or "".

    It leaves four spare blocks of a plane to collection; if the wanted share does not, at least half of the spare ones.

    Args:
        wanted: share of all blocks that the program keeps free.
        spare: over-provisioning, a share of the logical capacity.
        blocks: blocks of a plane.
    """
    share = spare / (1 + spare)
    if wanted <= share - _LEFT_BLOCKS / blocks:
        return wanted, ""
    most = max(min(share / 2, share - _LEFT_BLOCKS / blocks), share / 100)
    return most, f"A full drive cannot keep {wanted:.3g} of its blocks free: collection starts at {most:.3g}."
