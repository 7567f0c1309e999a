"""`interpulse view` command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interpulse.cli.options import path_argument
from interpulse.cli.output_streams import emit, say

EPILOG = """\
Examples:

  interpulse run examples/small.toml --out out --timeline worst:5:read

  interpulse view out/no-suspend.timeline.pftrace

Ctrl-C ends it. docs/LOGS.md describes the tracks."""


def view(
    file: Annotated[Path, path_argument("FILE", "A timeline of `interpulse run --timeline`.")],
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="The port to listen on; 0 is any free port.")
    ] = 0,
    browser: Annotated[bool, typer.Option("--browser", help="Also open the page in the web browser.")] = False,
) -> int:
    """Serve a timeline and the Perfetto UI on loopback; nothing leaves this machine.

    The address has a secret of its own: other users of the machine cannot read the timeline without it.
    """
    from interpulse.logs.viewer import Viewer

    viewer = Viewer.of(file.absolute(), port)
    with viewer:
        emit(viewer.url)
        say("serving until Ctrl-C")
        if browser:
            import webbrowser

            webbrowser.open(viewer.url)
        try:
            viewer.server.serve_forever()
        except KeyboardInterrupt:
            say("ended")
    return 0
