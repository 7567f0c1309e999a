"""Check of limits against the load: a bound on requests that no flow issues would hold whatever the drive does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from interpulse._core import ConfigError
from interpulse.search.limits import AnyLimit

_SHARE = re.compile(r"flow\.(\d+)\.(read|trim|write-zeroes|compare)")


def check_traffic(limits: Sequence[AnyLimit], cases: Iterable[Mapping[str, str]], place: str) -> None:
    """Raises ConfigError if a limit bounds reads or writes and no case issues such requests.

    Args:
        limits: the limits.
        cases: the resolved settings of each case.
        place: what messages call the configuration.
    """
    issued = {kind for values in cases for kind in _kinds(values)}
    for limit in limits:
        kind = getattr(limit, "kind", "all")
        if kind in ("read", "write") and kind not in issued:
            other = " and ".join(f"{each}s" for each in sorted(issued)) or "trims"
            raise ConfigError(
                f"{place}: limit {limit.name}: seen a load of {other} only; expected a limit for these, or a flow with "
                f"{kind}s"
            )


def _kinds(values: Mapping[str, str]) -> set[str]:
    """`read` and `write`, as far as flows issue them; a trace may have both."""
    if any(re.fullmatch(r"flow\.\d+\.trace", key) and value not in ("", "not set") for key, value in values.items()):
        return {"read", "write"}
    shares: dict[str, dict[str, float]] = {}
    for key, value in values.items():
        if match := _SHARE.fullmatch(key):
            shares.setdefault(match[1], {})[match[2]] = float(value)
    found = set()
    for share in shares.values():
        # Comparisons count as reads, Write Zeroes as neither.
        found |= {"read"} if share.get("read", 0) + share.get("compare", 0) > 0 else set()
        # Shares are decimal numbers that the core has read; their sum may miss 1 by rounding.
        found |= {"write"} if sum(share.values()) < 1 - 1e-12 else set()
    return found if shares else {"read", "write"}
