"""What imported drives of simulators without pulses, metadata and ECC have in common."""

from __future__ import annotations

from interpulse.importing.draft import Draft

_PULSES = (("program-loops", 1), ("program-verify", "0ns"), ("erase-loops", 1), ("erase-verify", "0ns"))
_SUSPENSION = ("program-suspend-entry", "program-resume", "erase-suspend-entry", "erase-resume")


def add_single_pulses(draft: Draft, program: str) -> None:
    """Operations of one pulse, no suspension, no metadata on the channel, no ECC, no warm-up."""
    for key, value in _PULSES:
        draft.assume(f"part.{key}", value, f"{program} has no loops: an operation is one pulse")
    for key in _SUSPENSION:
        draft.assume(f"part.{key}", "0ns", f"{program} suspends nothing")
    draft.assume("part.page-parity", "0B", f"{program} moves no metadata")
    draft.assume("part.layers", 1, f"{program} has no layers")
    draft.assume("ecc.latency", "0ns", f"{program} has no ECC time")
    draft.assume("run.warmup", "0ns", f"{program} measures from the first request")


def add_free_link(draft: Draft, program: str) -> None:
    """The fastest link: what a program without a host link is nearest to."""
    for key, value in (("generation", 6), ("lanes", 16), ("max-payload", 4096)):
        draft.assume(f"link.{key}", value, f"{program} has no host link: the fastest one")
    draft.assume("host.firmware", "0ns", f"{program} has no firmware time")


def add_default_flow(draft: Draft) -> None:
    """Random reads of 4 KiB at depth 1, so that the drive can be run."""
    reason = "no workload is given: random reads of 4 KiB at depth 1"
    draft.assume("run.requests", 100_000, reason)
    draft.assume("flow.0.name", "reads", reason)
    draft.assume("flow.0.depth", 1, reason)
