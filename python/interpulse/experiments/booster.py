"""BOOSTER, T. Fujimori and S. Nomura, SYSTOR'23: a blind set-up, measured as `measures.toml` declares."""

from __future__ import annotations

from interpulse.experiments.blind import run

__all__ = ["run"]
