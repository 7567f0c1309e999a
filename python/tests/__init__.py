"""Tests of the Python face: the command line, the API, the shell around the core, and results end to end."""

from pathlib import Path

PACKAGE_DIR = Path(__file__).parent.parent / "interpulse"
