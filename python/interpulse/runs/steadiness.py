"""Steadiness of a window in words: overload of open flows, slope of write amplification."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

RELIEF = 0.95
"""Share of the served rate that is proposed: at the served rate itself the backlog stays."""

UNCERTAIN = 0.25
"""Change of write amplification over the window beyond which a verdict on latencies does not cover it."""

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


def overload_advice(raw: Mapping[str, Any]) -> str:
    """`overload` with what to do about it."""
    text = overload(raw)
    return f"{text}; {_relief(raw)}" if text else ""


def _relief(raw: Mapping[str, Any]) -> str:
    """What to set so that an overloaded case serves what is offered: a key and a value, where one flow has a rate."""
    config, load = raw.get("config", {}), raw.get("steady", {}).get("load", {})
    rates = [key for key in config if key.startswith("flow.") and key.endswith((".speed", ".rate"))]
    found = [key for key in rates if config[key] != "not set"]
    if len(found) != 1 or not load.get("served_per_s"):
        return "reduce the load of its open flows"
    share = RELIEF * load["served_per_s"] / load["offered_per_s"]
    if found[0].endswith("rate"):
        return f"reduce the rate: --set {found[0]}={int(_two_digits(share * load['offered_per_s']))}/s"
    speed = config[found[0]]
    return f"replay slower: --set {found[0]}={_two_digits(share * float(speed)):g}"


def _two_digits(value: float) -> float:
    """Rounded down."""
    step = 10 ** (math.floor(math.log10(value)) - 1) if value > 0 else 1
    return math.floor(value / step + 1e-9) * step


def _rates(load: Mapping[str, Any]) -> str:
    begins = f" from {load['since_s']:,.3g} s on" if "since_s" in load else ""
    if "offered_per_s" not in load:
        return "more requests offered than served"
    return f"{load['offered_per_s']:,.0f} requests/s offered, {load['served_per_s']:,.0f} served{begins}"


def is_uncertain(raw: Mapping[str, Any]) -> bool:
    """Whether write amplification may have changed by more than `UNCERTAIN` over the window."""
    found = raw.get("steady", {}).get("waf_slope")
    return found is not None and max(abs(end) for end in found["interval"]) > UNCERTAIN


def slope(raw: Mapping[str, Any]) -> str:
    """Change of write amplification over the window with its 95 % interval; empty if it is unknown."""
    found = raw.get("steady", {}).get("waf_slope")
    if found is None:
        return ""
    low, high = (f"{100 * end:+.1f}" for end in found["interval"])
    return f"write amplification {100 * found['change']:+.1f} % over the window ({low} to {high} %)"
