"""Server of the page: Bokeh's, for one machine or with a token, and for few pages at a time."""

from __future__ import annotations

import ipaddress
import logging
import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from importlib.resources import files
from typing import Any, Self
from urllib.parse import urlencode

from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.document import Document
from bokeh.server.server import BaseServer
from bokeh.server.tornado import BokehTornado
from jinja2 import Environment
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPServerRequest, parse_cookie
from tornado.ioloop import IOLoop
from tornado.web import RequestHandler

from interpulse._core import ConfigError, version
from interpulse.explore.page import variables
from interpulse.explore.session import Session
from interpulse.explore.simulation import Simulator

MOST_PAGES = 8
"""Pages that are open at a time."""

LEAST_TOKEN = 16
"""Fewest characters of a token."""

COOKIE = "interpulse-token"

MOST_BYTES = 1 << 16
"""Most bytes of a request or message of a page."""

ALONE = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; frame-ancestors 'none'; base-uri 'none'"
"""The page may ask this server alone; Bokeh's tickers are functions in text."""

FRAMES = ("iframe", "frame", "embed", "object")


@dataclass(frozen=True)
class Answer:
    """An answer that is no page."""

    status: HTTPStatus
    text: str
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Access:
    """Who is served: requests that name this server, from its own page, with the token if there is one."""

    host: str
    port: int
    token: str | None

    @classmethod
    def of(cls, host: str, port: int, token: str | None) -> Access:
        """The rules of an address.

        Raises:
            ConfigError: the address is none, or other machines reach it and there is no token.
        """
        if token is not None and (len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable()):
            raise ConfigError(
                f"--token: seen {len(token)} characters; expected at least {LEAST_TOKEN} printable ones of ASCII"
            )
        try:
            address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host.strip("[]"))
        except ValueError:
            raise ConfigError(f"--host {host}: expected an address such as 127.0.0.1 or ::1") from None
        if not address.is_loopback and token is None:
            raise ConfigError(
                f"--host {host}: other machines reach this address; expected 127.0.0.1 or ::1, or a --token"
            )
        return cls(str(address), port, token)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches the address."""
        return ipaddress.ip_address(self.host).is_loopback

    @property
    def names(self) -> list[str]:
        """Values of `Host` that name a server on loopback."""
        own = f"[{self.host}]" if ":" in self.host else self.host
        return [f"{name}:{self.port}" for name in dict.fromkeys((own, "localhost", "127.0.0.1"))]

    @property
    def url(self) -> str:
        """Where a browser finds the page."""
        query = f"?{urlencode({'token': self.token})}" if self.token else ""
        return f"http://{self.names[0]}/{query}"

    def answer(self, request: HTTPServerRequest) -> Answer | None:
        """The answer to a request that is refused or sent elsewhere; None for others."""
        hosts, origins = (request.headers.get_list(name) for name in ("Host", "Origin"))
        if len(hosts) != 1 or (self.is_loopback and hosts[0] not in self.names):
            seen = ", ".join(hosts) or "none"
            return Answer(HTTPStatus.FORBIDDEN, f"seen the host {seen}; expected {self.names[0]}")
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return Answer(HTTPStatus.FORBIDDEN, f"seen the origin {', '.join(origins)}; expected http://{hosts[0]}")
        if request.headers.get("Sec-Fetch-Dest") in FRAMES:
            return Answer(HTTPStatus.FORBIDDEN, "the page cannot be part of another one")
        if request.method not in ("GET", "HEAD"):
            return Answer(HTTPStatus.METHOD_NOT_ALLOWED, "expected GET")
        return self._without_token(request) if self.token is not None else None

    def _without_token(self, request: HTTPServerRequest) -> Answer | None:
        """Of a server with a token: a request that has none is refused, one with it in its address gets a cookie."""
        assert self.token is not None
        given = [each.decode(errors="replace") for each in request.arguments.get("token", [])]
        if given and _is_same(given[-1], self.token):
            rest = [(name, each) for name, values in request.arguments.items() if name != "token" for each in values]
            cookie = f"{COOKIE}={_hidden(self.token)}; HttpOnly; SameSite=Strict; Path=/"
            to = f"/?{urlencode(rest)}" if rest else "/"
            return Answer(HTTPStatus.FOUND, "", (("Location", to), ("Set-Cookie", cookie)))
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        cookies = parse_cookie(request.headers.get("Cookie", ""))
        if _is_same(bearer, self.token) or _is_same(cookies.get(COOKIE, ""), _hidden(self.token)):
            return None
        return Answer(HTTPStatus.FORBIDDEN, "the address needs ?token=TOKEN with the token of the command")


def _is_same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())


def _hidden(token: str) -> str:
    """The token in characters that a cookie may have."""
    return token.encode().hex()


class _Answering(RequestHandler):
    """Sends an answer to any method."""

    def initialize(self, answer: Answer) -> None:
        self._answer = answer

    def prepare(self) -> None:
        """Answers at once."""
        self.set_status(self._answer.status)
        for name, value in self._answer.headers:
            self.set_header(name, value)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(self._answer.text + "\n" * bool(self._answer.text))

    def data_received(self, chunk: bytes) -> None:
        """Ignores the body."""


class _Tornado(BokehTornado):  # type: ignore[misc] # Bokeh has no types here
    """Bokeh's application behind the rules of access; it serves the page, its socket and its scripts, nothing else."""

    def __init__(self, page: Application, access: Access) -> None:
        self.access = access
        super().__init__(
            {"/": page},
            extra_websocket_origins=access.names if access.is_loopback else ["*"],
            # Nobody can name a session that the server has not made.
            secret_key=secrets.token_bytes(32),
            sign_sessions=True,
            check_unused_sessions_milliseconds=1_000,
            unused_session_lifetime_milliseconds=5_000,
            websocket_max_message_size_bytes=MOST_BYTES,
            include_headers=[],
            include_cookies=[],
            log_function=lambda _: None,
        )

    def find_handler(self, request: HTTPServerRequest, **options: Any) -> Any:  # noqa: ANN401 - as Tornado calls it
        """Refuses before any handler sees a request."""
        answer = self.access.answer(request)
        path = request.path
        if answer is None and path not in ("/", "/ws") and not path.startswith("/static/"):
            answer = Answer(HTTPStatus.NOT_FOUND, f"there is no {path[:200]}; the page is /")
        if answer is None and path == "/" and len(self.get_sessions("/")) >= MOST_PAGES:
            text = f"{MOST_PAGES} pages are open: close one, and reload this one after five seconds"
            answer = Answer(HTTPStatus.SERVICE_UNAVAILABLE, text)
        if answer is not None:
            return self.get_handler_delegate(request, _Answering, {"answer": answer})
        return super().find_handler(request, **options)


class ExploreServer:
    """The server of a simulator's pages."""

    def __init__(self, simulator: Simulator, host: str, port: int, token: str | None) -> None:
        """Begins to listen; port 0 is any free one.

        Raises:
            ConfigError: the address is not allowed, or it is taken.
        """
        access = Access.of(host, port, token)
        try:
            family = socket.AF_INET6 if ":" in access.host else socket.AF_INET
            listening = socket.create_server((access.host, port), family=family, backlog=128)
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            raise ConfigError(
                f"cannot listen on {access.host}, port {port}: {why} (--port 0 takes any free port)"
            ) from None
        self.access = Access(access.host, listening.getsockname()[1], token)
        listening.setblocking(False)
        self._simulator = simulator
        self._template = Environment(autoescape=True).from_string(
            (files("interpulse.explore") / "page.html").read_text(encoding="utf-8")
        )
        self._loop = IOLoop.current()
        application = _Tornado(Application(FunctionHandler(self._open)), self.access)
        http = HTTPServer(application, max_body_size=MOST_BYTES, max_header_size=MOST_BYTES)
        http.add_socket(listening)
        self._server = BaseServer(self._loop, application, http)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(wait=False)
        # asyncio logs each request that Ctrl-C leaves pending.
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)

    def run(self) -> None:
        """Serves until Ctrl-C."""
        self._loop.start()

    def _open(self, doc: Document) -> None:
        """Makes the document of a page."""
        context = doc.session_context
        arguments: Mapping[str, list[bytes]] = context.request.arguments if context and context.request else {}
        session = Session(doc, self._simulator, arguments)
        doc.title = f"{self._simulator.base.title}: interpulse explore"
        doc.template = self._template
        doc.template_variables.update(variables(self._simulator.base, session.state), version=version, alone=ALONE)
