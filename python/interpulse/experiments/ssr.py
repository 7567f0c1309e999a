"""SSR, B. Kim et al., Journal of KICS 2025: a blind set-up, measured as `measures.toml` declares."""

from __future__ import annotations

from interpulse.experiments.blind import run

__all__ = ["run"]
