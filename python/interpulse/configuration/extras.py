"""Optional packages: the message that names the extra to install when one is missing."""

from __future__ import annotations

from importlib.util import find_spec

from interpulse._core import ConfigError
from interpulse.configuration.installation import command


def require(package: str, extra: str, what: str) -> None:
    """Checks that a package is installed, without importing it.

    Raises:
        ConfigError: it is missing; the message begins with `what` and ends with the command that installs it here.
    """
    try:
        found = find_spec(package) is not None
    except ImportError:
        found = False
    if not found:
        raise ConfigError(f"{what} needs {package}, which is not installed: {command(extra, package)}")
