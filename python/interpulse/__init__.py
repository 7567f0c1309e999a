"""interpulse: an SSD simulator whose programs and erases are trains of pulses that can be stopped and resumed.

A first run::

    import interpulse

    config = interpulse.Config.load("examples/quickstart.toml")
    result = interpulse.run(config)
    for case in result.cases:
        print(case.case, case.iops, case.percentile("read", 99.9))

The names in `__all__`, which `dir(interpulse)` lists, are public; modules may change at any time. `run` simulates a
`Config` and returns a `Result`; `compare` compares results; `sweep`, `slo`, `life`, `advise`, `rank`, `optimize` and
`fit` simulate many configurations; `Device` is a drive that another simulator advances. A user's mistake raises
`ConfigError` (of a request to a device `RequestError`), a failed run `RunError`, a bug `InternalError`.
"""

from interpulse._core import ConfigError, Entry, InternalError, Progress, RequestError, RunError, version

# Importing `typing` takes longer than a short run; type checkers treat this name as true.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from interpulse.configuration.config import Config
    from interpulse.embedding.device import Device
    from interpulse.fitting.fit import fit
    from interpulse.fitting.result import Fit
    from interpulse.lifetime.life import life
    from interpulse.lifetime.result import Life
    from interpulse.runs.comparison import Comparison, compare
    from interpulse.runs.result import Result
    from interpulse.runs.runner import Interrupted, run
    from interpulse.search.advice import Advice
    from interpulse.search.advise import advise
    from interpulse.search.optimize import Optimization, optimize
    from interpulse.search.rank import rank
    from interpulse.search.ranking import Ranking
    from interpulse.search.slo import Slo, slo
    from interpulse.sweeps.sweep import Sweep, SweepInterrupted, sweep
else:
    _MODULES = {
        "configuration.config": ("Config",),
        "embedding.device": ("Device",),
        "fitting.result": ("Fit",),
        "fitting.fit": ("fit",),
        "lifetime.life": ("life",),
        "lifetime.result": ("Life",),
        "runs.comparison": ("Comparison", "compare"),
        "runs.result": ("Result",),
        "runs.runner": ("Interrupted", "run"),
        "search.advice": ("Advice",),
        "search.advise": ("advise",),
        "search.optimize": ("Optimization", "optimize"),
        "search.rank": ("rank",),
        "search.ranking": ("Ranking",),
        "search.slo": ("Slo", "slo"),
        "sweeps.sweep": ("Sweep", "SweepInterrupted", "sweep"),
    }
    _LAZY = {name: module for module, names in _MODULES.items() for name in names}

    def __getattr__(name: str) -> object:
        """Imports a public name at its first use, so that the command line starts fast."""
        if name not in _LAZY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"interpulse.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    """The public names, those not imported yet included."""
    return sorted(__all__)


__version__ = version

__all__ = [
    "Advice",
    "Comparison",
    "Config",
    "ConfigError",
    "Device",
    "Entry",
    "Fit",
    "InternalError",
    "Interrupted",
    "Life",
    "Optimization",
    "Progress",
    "Ranking",
    "RequestError",
    "Result",
    "RunError",
    "Slo",
    "Sweep",
    "SweepInterrupted",
    "__version__",
    "advise",
    "compare",
    "fit",
    "life",
    "optimize",
    "rank",
    "run",
    "slo",
    "sweep",
]
