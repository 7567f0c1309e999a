"""Steadiness of a window in words: overload of open flows, slope of write amplification."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

OVERLOADED = "overloaded"
"""The verdict of a window in which open flows offer more than the drive serves."""


def overload(raw: Mapping[str, Any]) -> str:
    """Offered and served rates of an overloaded case or seed; empty if it is not overloaded."""
    steady = raw.get("steady", {})
    if steady.get("verdict") != OVERLOADED:
        return ""
    load: Mapping[str, Any] = steady.get("load", {})
    flows = [flow for flow in load.get("flows", ()) if flow["verdict"] == OVERLOADED]
    if flows and len(flows) < len(load["flows"]):
        rates = "; ".join(f"flow {flow['name']}: {_rates(flow)}" for flow in flows)
    else:
        rates = _rates(load)
    return f"overloaded: {rates}; latency grows for as long as the run lasts"


def _rates(load: Mapping[str, Any]) -> str:
    begins = f" from {load['since_s']:,.3g} s on" if "since_s" in load else ""
    if "offered_per_s" not in load:
        return "more requests offered than served"
    return f"{load['offered_per_s']:,.0f} requests/s offered, {load['served_per_s']:,.0f} served{begins}"


def slope(raw: Mapping[str, Any]) -> str:
    """Change of write amplification over the window with its 95 % interval; empty if it is unknown."""
    found = raw.get("steady", {}).get("waf_slope")
    if found is None:
        return ""
    low, high = (f"{100 * end:+.1f}" for end in found["interval"])
    return f"write amplification {100 * found['change']:+.1f} % over the window ({low} to {high} %)"
