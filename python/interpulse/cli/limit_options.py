"""Latency limits as options: `--read-p99.9 1ms`, one for each kind of request and measure."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from interpulse.cli.exits import UserError
from interpulse.search.limits import KINDS, MEASURES

SHOWN = ("read-p99.9", "write-p99.9")
"""Those on the help page; it names the others."""

_OTHERS = f"Also {', '.join(each for each in MEASURES if each != 'p99.9')}"


def with_limits(command: Callable[..., int]) -> Callable[..., int]:
    """The command with an option for each limit; those given arrive as its argument `limits`."""
    names = {f"{kind}_{measure.replace('.', '_')}": f"{kind}-{measure}" for kind in KINDS for measure in MEASURES}

    @functools.wraps(command)
    def gathered(**given: Any) -> int:  # noqa: ANN401 - as Typer has read them
        every = {names[key]: given.pop(key) for key in list(given) if key in names}
        limits = {f"--{name}": value for name, value in every.items() if value is not None}
        if not limits:
            raise UserError("no limit is given; expected at least one, such as --read-p99.9 1ms")
        return command(limits=limits, **given)

    own = inspect.signature(command, eval_str=True)
    options = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_option(name))
        for key, name in names.items()
    ]
    kept = [each.replace(kind=each.KEYWORD_ONLY) for each in own.parameters.values() if each.name != "limits"]
    parameters = [*kept[:1], *options, *kept[1:]]
    gathered.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    gathered.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": int}
    del gathered.__wrapped__
    return gathered


def _option(name: str) -> Any:  # noqa: ANN401 - as Typer takes it
    kind = name.split("-", 1)[0]
    others = "; --all-... for all requests" if kind == "write" else ""
    text = f"The most that it may be of {kind}s, such as 1ms. {_OTHERS}{others}."
    return Annotated[
        str | None,
        typer.Option(f"--{name}", metavar="TIME", help=text, hidden=name not in SHOWN, show_default=False),
    ]
