"""Client of the live view of a served drive: its figures, and changes of its suspension."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from interpulse._core import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

WAIT = 5.0
"""Seconds that the server may take to answer."""

LONGEST = 1 << 20
"""Bytes of the longest answer."""

LEGAL = "HOST:PORT of `interpulse serve --web HOST:PORT`"


@dataclass(frozen=True)
class LiveView:
    """The live view at an address."""

    host: str
    port: int
    token: str | None = None

    @classmethod
    def at(cls, address: str, token: str | None) -> Self:
        """The live view at `HOST:PORT`, or at the address that the server prints.

        Raises:
            ConfigError: it is no such address.
        """
        host, _, port = address.removeprefix("http://").removesuffix("/").rpartition(":")
        if not host or "/" in host or not port.isascii() or not port.isdecimal() or not 0 < int(port) < 1 << 16:
            raise ConfigError(f"address: seen {address!r}; expected {LEGAL}")
        if token is not None and not (token.isascii() and token.isprintable()):
            raise ConfigError("token: expected printable ASCII characters, as `--web-token` has them")
        return cls(host.removeprefix("[").removesuffix("]"), int(port), token)

    def figures(self) -> dict[str, Any]:
        """Figures of the present, as `/live.json` has them.

        Raises:
            ConfigError: nothing listens there, something else does, or the token is wrong.
        """
        text = self._answer("GET", "/live.json")
        try:
            found = json.loads(text)
        except ValueError:
            raise self._foreign("its answer is no JSON") from None
        if not isinstance(found, dict) or "config_hash" not in found:
            raise self._foreign("its JSON has no `config_hash`")
        return found

    def change(self, settings: Mapping[str, str]) -> dict[str, Any]:
        """Changes keys of `[suspend.program]` and `[suspend.erase]`; returns the drive time and the schemes.

        Raises:
            ConfigError: as `figures`, or a change that is refused.
        """
        found: dict[str, Any] = json.loads(self._answer("POST", "/suspension", json.dumps(dict(settings))))
        return found

    def _answer(self, method: str, path: str, body: str | None = None) -> str:
        """Body of a successful answer."""
        fields = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if body is not None:
            fields["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection(self.host, self.port, timeout=WAIT)
        try:
            connection.request(method, path, body, fields)
            answer = connection.getresponse()
            text = answer.read(LONGEST).decode(errors="replace")
        except TimeoutError:
            raise ConfigError(f"{self}: no answer within {WAIT:.0f} s; expected {LEGAL}") from None
        except OSError as error:
            raise ConfigError(f"{self}: {error.strerror or error}; expected {LEGAL}") from None
        except http.client.HTTPException as error:
            raise self._foreign(f"{type(error).__name__} instead of an answer of HTTP") from None
        finally:
            connection.close()
        if answer.status == http.client.OK:
            return text
        why = " ".join(text.split())[:300]
        match answer.status:
            case 400:
                raise ConfigError(why)
            case 401:
                seen = "it is missing" if self.token is None else "this one is wrong"
                raise ConfigError(f"{self}: the live view needs the token of `interpulse serve --web-token`; {seen}")
            case 421:
                raise ConfigError(f"{self}: {why}; use 127.0.0.1:{self.port} or localhost:{self.port}")
            case 503:
                raise ConfigError(f"{self}: {why}")
            case status:
                raise self._foreign(f"status {status} for {path}")

    def _foreign(self, why: str) -> ConfigError:
        return ConfigError(f"{self}: another server answers there: {why}; expected {LEGAL}")

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"
