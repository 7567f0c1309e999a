"""Configurations: TOML text with overrides."""

from __future__ import annotations

import os
from os import PathLike

import interpulse._core as _core
from interpulse._core import ConfigError
from interpulse.configuration.values import Value, literal, plain, toml, whole
from interpulse.files.paths import read_text, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any, Self

    from interpulse._core import Entry, Plan
    from interpulse.files.cache import Cache
    from interpulse.fio.expansion import Ends, Jobs

_SEED_LIMIT = 2**64


class Config:
    """A configuration: the text of a TOML file and the overrides set on top of it.

    Nothing is checked until the configuration is used: `entries`, `hash`, `case_names` and `interpulse.run` resolve
    it and raise `ConfigError` with the file, the line and the legal names when it is invalid.
    """

    def __init__(self, text: str, *, path: str = "<text>") -> None:
        self._text = text
        self._path = path
        self._sets: list[tuple[str, str]] = []
        self._trace_keys: list[tuple[str, str]] = []
        self._jobs: Jobs | None = None

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Config:
        """Reads the TOML file at `path`; a trace named in it is looked for beside it.

        Raises:
            ConfigError: the file cannot be read, is no regular file of at most 16 MiB, is not UTF-8, or is empty.
        """
        text = read_text(path, "the configuration")
        if not text.strip():
            raise ConfigError(f"the configuration {shown(path)} is empty")
        return cls(text, path=str(path))

    @classmethod
    def from_toml(cls, text: str, *, path: str = "<text>") -> Config:
        """A configuration from TOML text; `path` is the name that messages use for it."""
        return cls(text, path=path)

    @classmethod
    def of(cls, given: Config | Mapping[str, Any] | str | PathLike[str]) -> Config:
        """A configuration from a `Config`, the path of a TOML file, or a dictionary with the keys of such a file.

        A dictionary holds dictionaries for tables and lists of them for `[[flow]]` and `[[case]]`; keys may be dotted.

        Raises:
            ConfigError: `given` is none of these.
        """
        return cls._of(given)

    @classmethod
    def _of(cls, given: object) -> Config:
        if isinstance(given, Config):
            return given
        if isinstance(given, str) and "\n" in given:
            raise ConfigError("this text is not the path of a configuration; Config.from_toml(text) reads TOML text")
        if isinstance(given, str | PathLike):
            return cls.load(given)
        from collections.abc import Mapping

        if isinstance(given, Mapping):
            return cls(toml(given), path="<dict>")
        kind = type(given).__name__
        raise ConfigError(
            f"a configuration is a Config, the path of a TOML file, or a dictionary; seen {kind}: {given!r}"
        )

    def set(self, key: str | None = None, value: Value | None = None, /, **settings: Any) -> Self:  # noqa: ANN401 - as `value`
        """Overrides settings, in place, as `--set key=value` does on the command line.

        Args:
            key: the dotted path of a setting, such as `"flow.0.depth"`.
            value: text with its unit (`"80us"`, `"16KiB"`), a number, a truth value, a duration, or a list of these;
                numbers and arrays of NumPy count as such.
            settings: further ones by their keys: `set(**{"flow.0.depth": 16, "run.requests": 1000})`.

        Returns:
            This configuration, so that calls can be chained. Take a `copy` first to keep the original.

        Raises:
            ConfigError: a setting cannot be such a value.
        """
        pairs: dict[str, Any] = {} if key is None else {key: value}
        texts = [(name, toml_value(given, name)) for name, given in (pairs | settings).items()]
        self._sets += texts
        return self

    def set_of_traces(self, keys: Sequence[tuple[str, str]]) -> Self:
        """Overrides settings of every flow that replays a trace, in place, as `--columns` and its siblings do.

        `keys` are names of settings without `flow.N.`, and their values in TOML. A flow without a trace ignores them;
        a configuration without such a flow is refused when it is resolved.
        """
        self._trace_keys += keys
        return self

    @property
    def jobs(self) -> Jobs | None:
        """The fio jobs that flows were made from when the configuration was resolved last; None without a job file."""
        return self._jobs

    @property
    def text(self) -> str:
        """The TOML text, without the overrides."""
        return self._text

    @property
    def path(self) -> str:
        """What messages call the text; traces named in it lie beside this file."""
        return self._path

    @property
    def sets(self) -> list[tuple[str, str]]:
        """The overrides, in the order in which they apply."""
        return list(self._sets)

    def copy(self) -> Config:
        """An independent configuration with the same text and overrides."""
        twin = Config(self._text, path=self._path)
        twin._sets = list(self._sets)
        twin._trace_keys = list(self._trace_keys)
        return twin

    def entries(self) -> list[Entry]:
        """Every resolved setting: `key`, `value` with its unit, `origin` (file and line, preset, default) and `doc`.

        Raises:
            ConfigError: the configuration cannot be used.
        """
        return self.resolve().entries()

    @property
    def hash(self) -> str:
        """The hash of the resolved configuration, in hexadecimal: equal hashes and seeds give equal results."""
        return self.resolve().config_hash

    @property
    def case_names(self) -> list[str]:
        """The names of the cases that the configuration compares, in the order in which they are reported."""
        return self.resolve().case_names

    def resolve(
        self,
        *,
        trace: str | PathLike[str] | None = None,
        seed: int | None = None,
        skip_bad_rows: bool = False,
        ends: Ends | None = None,
        cache: Cache | None = None,
    ) -> Plan:
        """Resolves and checks the configuration.

        Args:
            trace: a trace file that replaces the configured workload.
            seed: the seed of every random stream, 0 to 2**64 - 1.
            skip_bad_rows: count and report bad rows of a trace instead of refusing them.
            ends: simulates the first jobs of a job file and returns when they end, in ns, for `stonewall` after a job
                without a known end; without it such a job file is refused.
            cache: folder for logs of requests that are made from a job file; by default the one of snapshots.

        Raises:
            ConfigError: the configuration cannot be used; the message says where and why.
        """
        seed = None if seed is None else whole("seed", seed, "a seed", 0, _SEED_LIMIT)
        text, path, sets = self.utf8()
        trace_name = None if trace is None else self._utf8(str(trace))
        keys = [(key, self._utf8(value)) for key, value in self._trace_keys]
        if "fio" in text:
            from interpulse.fio.expansion import expanded

            found = expanded(text, path, sets, seed, to_toml=toml, ends=ends, cache=cache)
            if found is not None:
                text, sets, self._jobs = found
        return _core.resolve(text, path, sets, trace_name, seed, skip_bad_rows, keys)

    def utf8(self) -> tuple[str, str, list[tuple[str, str]]]:
        """Text, path and overrides as the core takes them.

        Raises:
            ConfigError: one of them is not UTF-8.
        """
        sets = [(self._utf8(key), self._utf8(value)) for key, value in self._sets]
        return self._utf8(self._text), self._utf8(self._path), sets

    def _utf8(self, text: str) -> str:
        """Text as the core takes it: what a locale without UTF-8 made of the bytes of an argument is undone."""
        if not isinstance(text, str):
            raise TypeError(f"{text!r} is {type(text).__name__}; expected a str")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            try:
                return os.fsencode(text).decode()
            except UnicodeError:
                seen = ascii(text[max(0, error.start - 20) : error.start + 20])
                message = f"{shown(self._path)}: seen {seen}; expected UTF-8 in the configuration and in names of files"
                raise ConfigError(message) from None
        return text

    def __repr__(self) -> str:
        sets = "".join(f", {key}={value}" for key, value in self._sets)
        return f"Config({self._path!r}{sets})"


def toml_value(value: Value, key: str = "value") -> str:
    """The text of a value as `--set` takes it: TOML, except that text on the top level goes without quotes."""
    found = plain(value, key)
    return found if isinstance(found, str) else literal(found, key)


def parse_set(text: str) -> tuple[str, str]:
    """Splits one `key=value` of the command line.

    Raises:
        ConfigError: there is no key or no equals sign.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"--set takes key=value, such as --set flow.0.depth=16; got {text!r}")
    return key.strip(), value.strip()


def load_with_sets(path: Path | str, sets: Sequence[str], trace_keys: Sequence[tuple[str, str]] = ()) -> Config:
    """The configuration at `path` with the `--set` options of the command line applied in order.

    `trace_keys` are keys of every flow that replays a trace, with their values in TOML.
    """
    config = Config.load(path).set_of_traces(trace_keys)
    for text in sets:
        key, value = parse_set(text)
        config.set(key, value)
    return config
