"""`interpulse top` command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from interpulse.cli.options import Json, set_option
from interpulse.cli.output_streams import emit, printable, say

if TYPE_CHECKING:
    from interpulse.serving.live_view import LiveView

EPILOG = """\
Examples:

  interpulse serve examples/small.toml --web 127.0.0.1:8080

  interpulse top 127.0.0.1:8080

  interpulse top 127.0.0.1:8080 --once --set suspend.erase.scheme=deferred

Ctrl-C ends it. docs/SERVE.md describes the figures."""


def top(
    address: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Address of `interpulse serve --web`.")],
    sets: Annotated[
        list[str] | None,
        set_option("First change a key of suspend.program or suspend.erase of the running drive; may be repeated."),
    ] = None,
    token: Annotated[str | None, typer.Option(metavar="TEXT", help="Token of `serve --web-token`.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Print one screen and end.")] = False,
    interval: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, max=3600, help="Time between two screens.")
    ] = 1.0,
    json: Json = False,
) -> int:
    """Show a served drive at work in the terminal: rates, latencies, dies, collection, slowest commands."""
    from interpulse.serving.live_view import LiveView

    live = LiveView.at(address, token)
    if sets:
        _change(live, sets)
    if json:
        import json as text

        emit(text.dumps(live.figures(), ensure_ascii=False))
    elif once:
        emit("\n".join(_lines(live)))
    else:
        _follow(live, interval)
    return 0


def _change(live: LiveView, sets: list[str]) -> None:
    from interpulse.cli.exit_codes import UserError

    settings = {}
    for each in sets:
        key, equals, value = each.partition("=")
        if not equals:
            raise UserError(f"--set: seen {each!r}; expected KEY=VALUE, such as suspend.erase.scheme=deferred")
        settings[key.strip()] = value.strip()
    done = live.change(settings)
    say(f"suspension at {done['at_s']:.6f} s of drive time: program {done['program']}, erase {done['erase']}")


def _lines(live: LiveView) -> list[str]:
    from interpulse._core import ConfigError
    from interpulse.serving.screen import screen

    try:
        return [printable(line) for line in screen(live.figures())]
    except ConfigError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f"{live}: a server of another version answers there: {error!r}") from None


def _follow(live: LiveView, interval: float) -> None:
    """Shows screens until Ctrl-C, or until the server ends."""
    from time import sleep

    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console()
    lines = _lines(live)
    if not console.is_terminal:
        # A pipe gets each screen.
        try:
            while True:
                emit("\n".join(lines) + "\n")
                sleep(interval)
                lines = _lines(live)
        except KeyboardInterrupt:
            return
    try:
        with Live(console=console, screen=True, auto_refresh=False) as shown:
            while True:
                shown.update(Text("\n".join(lines), no_wrap=True, overflow="crop"), refresh=True)
                sleep(interval)
                lines = _lines(live)
    except KeyboardInterrupt:
        say("ended")
