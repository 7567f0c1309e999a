"""Latency limits as options: `--read-p99.9 1ms`, one for each kind of request and measure."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from interpulse.cli.exits import UserError
from interpulse.cli.options import with_options
from interpulse.search.limits import KINDS, MEASURES

SHOWN = ("read-p99.9", "write-p99.9")
"""Those on the help page; it names the others."""

_OTHERS = f"Also {', '.join(each for each in MEASURES if each != 'p99.9')}"

_NAMES = {f"{kind}_{measure.replace('.', '_')}": f"{kind}-{measure}" for kind in KINDS for measure in MEASURES}


def _given(values: dict[str, Any]) -> dict[str, str]:
    """The limits that are given, by their options."""
    limits = {f"--{_NAMES[key]}": value for key, value in values.items() if value is not None}
    if not limits:
        raise UserError("no limit is given; expected at least one, such as --read-p99.9 1ms")
    return limits


def _option(name: str) -> Any:  # noqa: ANN401 - as Typer takes it
    kind = name.split("-", 1)[0]
    others = "; --all-... for all requests" if kind == "write" else ""
    text = f"The most that it may be of {kind}s, such as 1ms. {_OTHERS}{others}."
    return Annotated[str | None, typer.Option(f"--{name}", metavar="TIME", help=text, hidden=name not in SHOWN)]


with_limits = with_options({key: (_option(name), None) for key, name in _NAMES.items()}, "limits", _given)
"""Gives a command an option for each limit; it takes those that are given as its argument `limits`."""
