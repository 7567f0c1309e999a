"""HTTP server on loopback for one user: a secret path, loopback host names and its own origin.

Other users of the machine can connect to any loopback port, and a page elsewhere can resolve its own name to loopback
(DNS rebinding). A request therefore needs the secret of the run in its path, and a loopback name as its host.
"""

from __future__ import annotations

import secrets
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from interpulse._core import ConfigError

NAMES = ("127.0.0.1", "localhost", "::1")
"""Host names of requests that are served."""

IDLE_S = 60.0
"""A connection without a request ends after this time."""


class LoopbackServer(ThreadingHTTPServer):
    """A server on 127.0.0.1.

    Attributes:
        secret: the first component of the path of every request.
    """

    def __init__(self, port: int, handler: type[LoopbackHandler]) -> None:
        """Begins to listen; port 0 is any free one.

        Raises:
            ConfigError: the port is taken, or not permitted.
        """
        self.secret = secrets.token_urlsafe(24)
        try:
            super().__init__(("127.0.0.1", port), handler)
        except OSError as error:
            raise ConfigError(f"cannot listen on port {port}: {error.strerror or error}") from None

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores a connection that the other end has closed."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type] # as the base class got it

    @property
    def url(self) -> str:
        """The root of the server, with the secret."""
        return f"http://127.0.0.1:{self.server_port}/{self.secret}/"


class LoopbackHandler(BaseHTTPRequestHandler):
    """Requests of a `LoopbackServer`; `path` is that below the secret. Bodies are not accepted."""

    timeout = IDLE_S
    server: LoopbackServer

    def parse_request(self) -> bool:
        """As the base class, but refuses requests that a page elsewhere or another user could send."""
        if not super().parse_request():
            return False
        why = (
            refusal(self.server.server_port, self.headers.get_all("Host", []), self.headers.get_all("Origin", []))
            or self._wrong_path()
        )
        if why:
            self.close_connection = True
            self.send_error(HTTPStatus.FORBIDDEN, explain=why)
        return not why

    def _wrong_path(self) -> str:
        """Removes the secret from the path; returns why that is not possible."""
        empty, secret, *rest = self.path.split("/", 2)
        if empty or not rest or not secrets.compare_digest(secret.encode(), self.server.secret.encode()):
            return "the address needs the secret that the command printed"
        self.path = f"/{rest[0]}"
        return ""

    def end_headers(self) -> None:
        """Adds headers that keep the address and the content on this machine."""
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


def refusal(port: int, hosts: list[str], origins: list[str]) -> str:
    """Why a request with these headers is not served by a loopback server; empty if it is.

    Args:
        port: the port of the server.
        hosts: the values of `Host`, of which there has to be one.
        origins: the values of `Origin`, which a browser omits in requests of its user.
    """
    if len(hosts) != 1 or not _is_own(f"http://{hosts[0]}", port):
        return f"seen the host {', '.join(hosts) or 'none'}; expected 127.0.0.1:{port}"
    if len(origins) > 1 or any(not _is_own(origin, port) for origin in origins):
        return f"seen the origin {', '.join(origins)}; expected http://127.0.0.1:{port}"
    return ""


def _is_own(address: str, port: int) -> bool:
    try:
        parts = urlsplit(address)
        at = (parts.scheme, parts.hostname, parts.port or 80)
    except ValueError:
        return False
    plain = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    return plain and at[0] == "http" and at[1] in NAMES and at[2] == port
