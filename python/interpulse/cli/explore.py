"""`interpulse explore` command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interpulse.cli.options import Sets, path_argument
from interpulse.cli.output_streams import emit, say

EPILOG = """\
Examples:

  interpulse explore

  interpulse explore examples/small.toml --case suspend-10 --no-browser

Ctrl-C ends it. docs/EXPLORE.md describes the page."""

PORT = 5006
"""The port unless another is given, so that links stay valid."""


def explore(
    config: Annotated[
        Path | None,
        path_argument("[CONFIG]", "A TOML file, whose keys the controls change; the demo drive without it."),
    ] = None,
    sets: Sets = None,
    case: Annotated[
        str | None, typer.Option(metavar="NAME", help="The case to begin with.", show_default="the last one")
    ] = None,
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="The port to listen on; 0 is any free port.")
    ] = PORT,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen on; beyond loopback with a token alone.")
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Token for the page, at least 16 characters; needed beyond loopback."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address alone; open no browser.")] = False,
) -> int:
    """Change a drive's suspension, load and part in the web browser, and watch tails, causes and power follow.

    Each change simulates a miniature within a fraction of a second; a longer window follows.
    """
    from interpulse.configuration.extras import require
    from interpulse.explore.base import Base

    require("bokeh", "plot", "the page")
    base = Base.load(config, sets or (), case)
    from interpulse.explore.server import ExploreServer
    from interpulse.explore.simulation import Simulator

    with Simulator(base) as simulator, ExploreServer(simulator, host, port, token) as server:
        emit(server.access.url)
        say("serving until Ctrl-C")
        if not no_browser:
            import webbrowser

            webbrowser.open(server.access.url)
        try:
            server.run()
        except KeyboardInterrupt:
            say("ended")
    return 0
