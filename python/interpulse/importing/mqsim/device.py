"""Sections of an MQSim drive file."""

from __future__ import annotations

from dataclasses import dataclass

from interpulse.importing.parameters import Values


@dataclass(frozen=True)
class Device:
    """The three sections of a drive."""

    host: Values
    drive: Values
    flash: Values
    as_written: bool
