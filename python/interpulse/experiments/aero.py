"""AERO, S. Cho et al., ASPLOS'24: a blind set-up, measured as `measures.toml` declares."""

from __future__ import annotations

from interpulse.experiments.blind import run

__all__ = ["run"]
