"""ZN540 again, K. Doekemeijer et al., SYSTOR'24: a blind set-up of a measured drive, as `measures.toml` declares."""

from __future__ import annotations

from interpulse.experiments.blind import run

__all__ = ["run"]
