"""interpulse: an SSD simulator whose programs and erases are trains of pulses that can be stopped and resumed.

A first run::

    import interpulse

    config = interpulse.Config.load("examples/quickstart.toml")
    result = interpulse.run(config)
    for case in result.cases:
        print(case.case, case.iops, case.percentile("read", 99.9))

Only the names below are public; modules whose names are not listed may change at any time.
"""

from typing import TYPE_CHECKING

from interpulse._core import ConfigError, Entry, InternalError, Progress, RunError, version
from interpulse.config import Config
from interpulse.result import Result
from interpulse.runner import Interrupted, run

if TYPE_CHECKING:
    from interpulse.comparison import Comparison, compare
else:

    def __getattr__(name: str) -> object:
        """What compares results is read when it is wanted: most runs start without."""
        if name not in ("Comparison", "compare"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from interpulse import comparison

        return getattr(comparison, name)


__version__ = version

__all__ = [
    "Comparison",
    "Config",
    "ConfigError",
    "Entry",
    "InternalError",
    "Interrupted",
    "Progress",
    "Result",
    "RunError",
    "__version__",
    "compare",
    "run",
]
