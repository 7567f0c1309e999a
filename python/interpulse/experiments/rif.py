"""RiF, M. Chun et al., HPCA 2024: a blind set-up, measured as `measures.toml` declares."""

from __future__ import annotations

from interpulse.experiments.blind import run

__all__ = ["run"]
