"""interpulse: an SSD simulator whose programs and erases are trains of pulses that can be stopped and resumed.

A first run::

    import interpulse

    config = interpulse.Config.load("examples/quickstart.toml")
    result = interpulse.run(config)
    for case in result.cases:
        print(case.case, case.iops, case.percentile("read", 99.9))

Only the names below are public; modules whose names are not listed may change at any time.
"""

from interpulse._core import ConfigError, Entry, InternalError, Progress, RunError, version

# Type checkers take a name such as this for true; reading `typing` for it takes longer than many a run.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from interpulse.comparison import Comparison, compare
    from interpulse.config import Config
    from interpulse.fitting.answer import Fit
    from interpulse.fitting.fit import fit
    from interpulse.result import Result
    from interpulse.runner import Interrupted, run
    from interpulse.search.advice import Advice
    from interpulse.search.advise import advise
    from interpulse.search.optimize import Optimization, optimize
    from interpulse.search.slo import Slo, slo
    from interpulse.sweeps.sweep import Sweep, SweepInterrupted, sweep
else:
    _LATE = {"Config": "config", "Result": "result", "Interrupted": "runner", "run": "runner"}
    _LATE |= {"Comparison": "comparison", "compare": "comparison"}
    _LATE |= {"Advice": "search.advice", "advise": "search.advise"} | dict.fromkeys(("Slo", "slo"), "search.slo")
    _LATE |= {"Fit": "fitting.answer", "fit": "fitting.fit"}
    _LATE |= dict.fromkeys(("Optimization", "optimize"), "search.optimize")
    _LATE |= dict.fromkeys(("Sweep", "SweepInterrupted", "sweep"), "sweeps.sweep")

    def __getattr__(name: str) -> object:
        """Everything is read when it is wanted: a run of the command line starts without most of it."""
        if name not in _LATE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"interpulse.{_LATE[name]}"), name)


__version__ = version

__all__ = [
    "Advice",
    "Comparison",
    "Config",
    "ConfigError",
    "Entry",
    "Fit",
    "InternalError",
    "Interrupted",
    "Optimization",
    "Progress",
    "Result",
    "RunError",
    "Slo",
    "Sweep",
    "SweepInterrupted",
    "__version__",
    "advise",
    "compare",
    "fit",
    "optimize",
    "run",
    "slo",
    "sweep",
]
