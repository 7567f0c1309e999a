"""`interpulse serve` command."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interpulse.cli.options import ConfigPath, Json, Seed, Sets, path_option
from interpulse.cli.output_streams import emit, say

if TYPE_CHECKING:
    from interpulse._core import Server

EPILOG = """\
Examples:

  interpulse serve examples/small.toml --set precondition.fill=0% --listen unix:/tmp/drive.sock --pace 20

  nbdinfo 'nbd+unix:///drive?socket=/tmp/drive.sock'

Ctrl-C ends it and prints the report. docs/SERVE.md has clients, pace and limits."""

POLL = 0.2
"""Seconds between two looks at the lines about clients."""


def serve(
    config: ConfigPath,
    sets: Sets = None,
    case: Annotated[
        str | None, typer.Option(metavar="NAME", help="The case to serve; needed if there are several.")
    ] = None,
    listen: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="unix:PATH or tcp:HOST:PORT, beyond loopback addresses with certificates; may be repeated.",
            show_default="tcp:127.0.0.1:10809",
        ),
    ] = None,
    pace: Annotated[
        str,
        typer.Option(
            metavar="PACE",
            help="real, max (as fast as the simulation allows), or a number: so many times slower than life.",
        ),
    ] = "real",
    backing: Annotated[
        Path | None,
        path_option("FILE", "Keep the data in this sparse file, and the drive's state in FILE.state.", "in memory"),
    ] = None,
    keep_state: Annotated[
        bool, typer.Option("--state/--no-state", help="Whether a drive with a backing file keeps its map and wear.")
    ] = True,
    save_every: Annotated[
        int,
        typer.Option(
            metavar="SECONDS",
            min=0,
            max=86400,
            help="Save the state of an idle drive after this time; 0: at the end alone.",
        ),
    ] = 30,
    record: Annotated[
        Path | None, path_option("FILE", "Write a trace of the commands to this new file, for `run --trace`.")
    ] = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the export.")] = "drive",
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse all writes.")] = False,
    tls_certificates: Annotated[
        Path | None,
        path_option(
            "FOLDER", "Need TLS and client certificates on TCP: ca-cert.pem, server-cert.pem, server-key.pem.", "no TLS"
        ),
    ] = None,
    remote_writes: Annotated[
        bool,
        typer.Option("--remote-writes", help="Let other machines write; for them the export is read-only otherwise."),
    ] = False,
    connections: Annotated[int, typer.Option(metavar="N", min=1, max=1024, help="Most connections at a time.")] = 16,
    web: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Show the drive at work in a browser, and Prometheus metrics."),
    ] = None,
    web_token: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Token for the live view, needed beyond loopback addresses.")
    ] = None,
    json: Json = False,
    seed: Seed = None,
) -> int:
    """Serve a simulated drive as a block device (NBD): real programs see its latencies.

    The data are kept in a file or in memory; each command completes when the simulated drive completes it.
    """
    from interpulse._core import Server
    from interpulse.configuration.config import load_with_sets
    from interpulse.files.cache import Cache

    text, path, overrides = load_with_sets(config, sets or []).utf8()
    if seed is not None:
        overrides = [*overrides, ("seed", str(seed))]
    state = Path(f"{backing}.state") if backing and keep_state else None
    server = Server(
        text,
        path,
        overrides,
        case,
        Cache.default().folder,
        pace,
        listen or ["tcp:127.0.0.1:10809"],
        name,
        backing,
        state,
        save_every or None,
        record,
        read_only,
        tls_certificates,
        remote_writes,
        connections,
        web,
        web_token,
    )
    say(f"{server.capacity:,} bytes at pace {pace}; Ctrl-C ends it")
    for uri in server.uris:
        say(uri)
    if server.web:
        say(f"live view: {server.web}")
    with _PowerSwitch(server):
        _wait(server)
    as_json, as_text = server.stop()
    _log(server)
    emit(as_json if json else as_text.rstrip("\n"))
    return 0


class _PowerSwitch:
    """Cuts the power of the drive at SIGUSR1."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def __enter__(self) -> None:
        self._before = signal.signal(signal.SIGUSR1, self._cut)

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGUSR1, self._before)

    def _cut(self, *_: object) -> None:
        if self._server.cut_power():
            say("SIGUSR1: the power of the drive is cut")
        else:
            say("SIGUSR1: ignored, since only a drive or array with a section [power-loss] can lose power")


def _wait(server: Server) -> None:
    """Writes the lines about clients until Ctrl-C, or until the drive fails."""
    from time import sleep

    try:
        while not server.has_failed:
            sleep(POLL)
            _log(server)
    except KeyboardInterrupt:
        say("ending")


def _log(server: Server) -> None:
    lines, dropped = server.lines()
    for line in lines:
        say(line)
    if dropped:
        say(f"{dropped} more lines about clients")
