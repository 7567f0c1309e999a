"""Options of the searches, among them a latency limit per request kind and measure (`--read-p99.9 1ms`)."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interpulse.cli.exit_codes import UserError
from interpulse.cli.options import check_workers, path_option, with_options
from interpulse.cli.output_streams import say
from interpulse.search.limits import KINDS, MEASURES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interpulse.sweeps.engine import Progress

Out = Annotated[
    Path | None,
    path_option("DIR", "The folder for the result and all simulations.", "the name of the file without .toml"),
]
Seeds = Annotated[int, typer.Option(metavar="N", min=2, max=1000, help="The number of seeds for each load.")]

SHOWN = ("read-p99.9", "write-p99.9")
"""Limits with an own entry on the help page; their help names the other limits."""

_OTHERS = f"Also {', '.join(each for each in MEASURES if each != 'p99.9')}"

_NAMES = {f"{kind}_{measure.replace('.', '_')}": f"{kind}-{measure}" for kind in KINDS for measure in MEASURES}


@contextmanager
def search_progress(name: str, on: str | None, jobs: int | None) -> Iterator[Progress]:
    """Shows the progress of a search; after Ctrl-C says how to continue."""
    from interpulse.cli.study_progress import watch_engine

    check_workers(on, jobs)
    try:
        with watch_engine(name, grows=True) as progress:
            yield progress
    except KeyboardInterrupt:
        say("interrupted: every completed simulation is stored; the same command continues from there")
        raise


def _limits(values: dict[str, Any]) -> dict[str, str]:
    """Limits by option name."""
    return {f"--{_NAMES[key]}": value for key, value in values.items() if value is not None}


def _given(values: dict[str, Any]) -> dict[str, str]:
    """Limits by option name, at least one."""
    limits = _limits(values)
    if not limits:
        raise UserError("no limit is given; expected at least one, such as --read-p99.9 1ms")
    return limits


def _option(name: str) -> Any:  # noqa: ANN401 - as Typer takes it
    kind = name.split("-", 1)[0]
    others = "; --all-... for all requests" if kind == "write" else ""
    text = f"Upper limit for {kind}s, such as 1ms. {_OTHERS}{others}."
    return Annotated[str | None, typer.Option(f"--{name}", metavar="TIME", help=text, hidden=name not in SHOWN)]


_OPTIONS = {key: (_option(name), None) for key, name in _NAMES.items()}

with_limits = with_options(_OPTIONS, "limits", _given)
"""Decorator that adds an option for each limit and passes the given limits, at least one, as the argument `limits`."""

with_limits_if_any = with_options(_OPTIONS, "limits", _limits)
"""As `with_limits`, for a command that may have none."""
