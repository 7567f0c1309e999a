"""ZN540, K. Doekemeijer et al., CLUSTER'23: a blind set-up of a measured drive, as `measures.toml` declares."""

from __future__ import annotations

from interpulse.experiments.blind import run

__all__ = ["run"]
