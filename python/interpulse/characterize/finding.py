"""What a characterization hands back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interpulse.characterize.part import PartFile
    from interpulse.experiments.outcome import Curve, Plot, Rows


@dataclass(frozen=True)
class Finding:
    """Everything that one kind found."""

    rows: Rows
    """Published figures beside ours."""
    figures: dict[str, Any]
    """What `--json` prints below names of its own, such as `grid`."""
    part: PartFile
    """The measured part, for drives."""
    settings: dict[str, Any] = field(default_factory=dict)
    """What was asked of the cells: sizes, scheme, polling."""
    notes: list[str] = field(default_factory=list)
    """Lines for the reader below the table."""
    plots: list[Plot] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    files: list[tuple[str, bytes]] = field(default_factory=list)
    """Further files of `--out`: name and content."""
