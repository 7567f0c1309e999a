"""Dies and planes of a chip as MQSim counts them."""

from __future__ import annotations

from interpulse.importing.resolved import Resolved


def dies_and_planes(found: Resolved) -> tuple[int, int]:
    """Dies of a chip and planes of a die for MQSim's file.

    MQSim joins operations that wait for planes of a die, and lets one die of a chip work at a time: planes that do not
    join are dies of one plane, if the order of allocation has dies and planes side by side.
    """
    dies, planes = found.whole("geometry.dies-per-chip", 1), found.whole("part.planes")
    joins = found.text("schedule.multi-plane-programs", "false") == "true"
    found.text("schedule.multi-plane-reads")
    found.text("part.plane-address")
    order = found.text("ftl.allocation", "dynamic")
    apart = "dp" not in order and "pd" not in order
    if dies > 1 or joins or (apart and order != "dynamic"):
        return dies, planes
    return planes, 1
