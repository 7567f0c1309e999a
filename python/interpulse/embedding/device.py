"""Device: a drive or array in simulated time that the caller advances."""

from __future__ import annotations

import json
from operator import index
from typing import NamedTuple

import interpulse._core as _core
from interpulse._core import RequestError
from interpulse.configuration.config import Config
from interpulse.configuration.extras import require
from interpulse.embedding.completion import OPS, Completion, Completions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from numpy.typing import ArrayLike

_CODES = {name: code for code, name in enumerate(OPS)}
_LIMIT = 2**64


class Audit(NamedTuple):
    """What the audits of a finished device checked."""

    requests: int
    """Requests issued, all of which completed."""
    mapped_units: int
    """Logical units mapped to flash, all of which agree with the physical side."""
    versions_checked: int
    """Reads whose version was checked."""


class Device:
    """A drive or array that runs only inside the calls of its owner.

    Times are in ns of simulated time, which begins at 0; offsets and lengths are in bytes, multiples of 512.
    Completions depend on the configuration and on the requests alone, not on how the calls divide time. Devices are
    independent of each other; calls of several threads with one device take turns, and long calls release the
    interpreter lock.

    The operations are `read`, `write`, `trim`, `flush`, `write_zeroes`, `compare`, and on zoned drives `append`,
    `zone_open`, `zone_open_zrwa`, `zone_commit`, `zone_close`, `zone_finish`, `zone_reset`, `zone_offline` and
    `zone_report`.

    Raises (all methods):
        RequestError: a request or an instant is illegal, or the device is finished; the device is as before the call.
        RunError: memory is short.
        InternalError: a bug of interpulse; the device is of no more use.
    """

    def __init__(
        self,
        config: Config | dict[str, Any] | str | PathLike[str],
        *,
        case: str | None = None,
        cache: str | PathLike[str] | None = None,
        journal: bool = False,
        causes: bool = True,
    ) -> None:
        """Builds a device and its initial state.

        Args:
            config: drive or array and their initial state, as `Config.of` takes them. The load of a run (`[[flow]]`,
                `[run]`, `[report]`) may be left out; if it is there, it is checked and nothing more.
            case: name of the `[[case]]` to build; needed if there are several.
            cache: folder of preconditioned states, which later devices load instead of preconditioning again.
            journal: keep all submissions, 56 bytes each, so that the device can be saved.
            causes: record the latency by cause with each completion.

        Raises:
            ConfigError: the configuration cannot be used; the message names file, line and key.
        """
        self._core = _made(config, case, cache, journal, causes, None)

    @classmethod
    def restore(
        cls,
        config: Config | dict[str, Any] | str | PathLike[str],
        saved: bytes,
        *,
        case: str | None = None,
        cache: str | PathLike[str] | None = None,
        causes: bool = True,
    ) -> Device:
        """A device that continues where a saved one was, with everything in flight.

        Repeats the submissions of the saved device, which takes as long as simulating them took.

        Args:
            config: the configuration of the saved device.
            saved: what `save` returned.
            case: as for a new device.
            cache: as for a new device.
            causes: as for a new device.

        Raises:
            ConfigError: the configuration cannot be used.
            RequestError: `saved` is damaged, of another configuration, or of a version that simulates otherwise.
        """
        device = cls.__new__(cls)
        device._core = _made(config, case, cache, True, causes, saved)  # noqa: SLF001 - of this class
        return device

    def submit(
        self,
        at_ns: int,
        op: str,
        offset: int = 0,
        bytes: int = 0,  # noqa: A002 - the unit is the name
        *,
        cookie: int = 0,
        namespace: int = 1,
        queue: int = 0,
        handle: int = 0,
    ) -> int:
        """Submits a request that arrives at `at_ns`, now or later.

        Requests of one instant arrive in the order of submission, after everything else of that instant.

        Args:
            at_ns: instant of its arrival.
            op: the operation.
            offset: first byte within the namespace.
            bytes: length, 512 to 1 GiB (of a trim more); 0 for a flush and zone management other than a report.
            cookie: returned with the completion.
            namespace: namespace, counted from 1 as in NVMe.
            queue: submission queue pair, counted from 0.
            handle: placement handle of a write, with reclaim groups group x handles + handle.

        Returns:
            The number of the request; numbers count from 0 in the order of submission.
        """
        numbers = {"at_ns": at_ns, "offset": offset, "bytes": bytes, "cookie": cookie}
        numbers |= {"namespace": namespace, "queue": queue, "handle": handle}
        at, first, length, note, *place = (_number(name, value) for name, value in numbers.items())
        return self._core.submit(at, _code(op), first, length, note, *place)

    def submit_batch(
        self,
        at_ns: ArrayLike,
        op: ArrayLike | str,
        offset: ArrayLike = 0,
        bytes: ArrayLike = 0,  # noqa: A002 - the unit is the name
        *,
        cookie: ArrayLike = 0,
        namespace: ArrayLike = 1,
        queue: ArrayLike = 0,
        handle: ArrayLike = 0,
    ) -> int:
        """Submits a request for each of the n instants of `at_ns`: all, or none if one is illegal.

        Args:
            at_ns: instants of arrival, (n,), in any order.
            op: a name for all, or codes, (n,): places in `interpulse.embedding.completion.OPS`.
            offset: first bytes, (n,) or one for all; so the others.
            bytes: lengths.
            cookie: returned with the completions.
            namespace: namespaces, counted from 1.
            queue: submission queue pairs, counted from 0.
            handle: placement handles.

        Returns:
            The number of the first; the others follow in order.
        """
        require("numpy", "frames", "a batch of requests")
        at = _column("at_ns", at_ns)
        if isinstance(at, int):
            raise RequestError(f"at_ns = {at}: a batch has an array of instants")
        kind = _code(op) if isinstance(op, str) else _column("op", op)
        given = {"offset": offset, "bytes": bytes, "cookie": cookie}
        given |= {"namespace": namespace, "queue": queue, "handle": handle}
        first, length, note, *place = (_column(name, value) for name, value in given.items())
        return self._core.submit_batch(at, kind, first, length, note, *place)

    @property
    def now_ns(self) -> int:
        """Simulated time."""
        return self._core.now_ns

    @property
    def next_event_ns(self) -> int | None:
        """The next instant at which something happens, None if nothing will until a request is submitted.

        Completions appear only at such instants.
        """
        return self._core.next_event_ns

    @property
    def pending(self) -> int:
        """Requests submitted and not completed."""
        return self._core.pending

    @property
    def completions(self) -> int:
        """Completions that can be taken with `pop` or `poll`."""
        return self._core.completions

    def advance_to(self, to_ns: int) -> None:
        """Handles everything up to and including `to_ns` and moves simulated time there."""
        self._core.advance_to(_number("to_ns", to_ns))

    def advance_to_completion(self, limit_ns: int | None = None) -> bool:
        """Handles everything up to the first instant with a completion, at the latest `limit_ns`, and moves time there.

        Returns:
            Whether a completion can be taken; at once if one can be already. False without a limit: nothing is pending.
        """
        return self._core.advance_to_completion(None if limit_ns is None else _number("limit_ns", limit_ns))

    def pop(self) -> Completion | None:
        """Takes the oldest completion; None if there is none."""
        row = self._core.pop()
        if row is None:
            return None
        tag, cookie, op, status, submitted, completed, moved, placed, causes = row
        return Completion(tag, cookie, OPS[op], status, submitted, completed, moved, placed, tuple(causes))

    def poll(self, most: int | None = None) -> Completions:
        """Takes completions in order, at most `most`, as NumPy arrays."""
        require("numpy", "frames", "a batch of completions")
        import numpy as np

        count, columns = self._core.poll_batch(self.completions if most is None else _number("most", most))
        arrays = {name: np.frombuffer(data, dtype) for name, dtype, data in columns}
        arrays["causes_ns"] = arrays["causes_ns"].reshape(count, -1) if count else np.empty((0, 0), np.uint64)
        return Completions(**arrays)

    @property
    def description(self) -> dict[str, Any]:
        """`device` (`drive` or `array`), `drives`, `namespaces` (bytes of each), `queues`, `handles`, `groups` ..."""
        found: dict[str, Any] = json.loads(self._core.describe())
        return found

    @property
    def capacity(self) -> int:
        """Bytes of namespace 1."""
        first: int = self.description["namespaces"][0]
        return first

    def counters(self) -> dict[str, dict[str, int]]:
        """Counters since creation by group and name (docs/COUNTERS.md)."""
        found: dict[str, dict[str, int]] = json.loads(self._core.counters())
        return found

    def save(self) -> bytes:
        """State of a device that was built with `journal=True`, with everything in flight, for `restore`."""
        return self._core.save()

    def finish(self) -> Audit:
        """Completes all requests and the device's own work, and audits it; completions and counters stay."""
        return Audit(*self._core.finish())


def _made(
    config: Config | dict[str, Any] | str | PathLike[str],
    case: str | None,
    cache: str | PathLike[str] | None,
    journal: bool,
    causes: bool,
    saved: bytes | None,
) -> _core.Device:
    text, path, sets = Config.of(config).utf8()
    return _core.Device(text, path, sets, case, cache, journal, causes, saved)


def _code(op: str) -> int:
    code = _CODES.get(op)
    if code is None:
        raise RequestError(f"op = {op!r}: legal: {', '.join(OPS)}")
    return code


def _number(name: str, value: int) -> int:
    try:
        found = index(value)
    except TypeError:
        raise RequestError(f"{name} = {value!r}: legal: a whole number") from None
    if not 0 <= found < _LIMIT:
        raise RequestError(f"{name} = {found}: legal: 0 to {_LIMIT - 1}")
    return found


def _column(name: str, values: ArrayLike) -> memoryview | int:
    """A contiguous column, or one value for all."""
    import numpy as np

    array = np.asarray(values)
    if array.ndim > 1:
        raise RequestError(f"{name} has {array.ndim} dimensions: legal: a number, or one dimension")
    if array.size == 0:
        return np.empty(0, np.uint64).data
    if array.dtype.kind not in "iu":
        raise RequestError(f"{name} has type {array.dtype}: legal: whole numbers")
    if array.dtype.kind == "i" and array.min() < 0:
        raise RequestError(f"{name} = {array.min()}: legal: 0 to {_LIMIT - 1}")
    if array.ndim == 0:
        return int(array)
    return np.ascontiguousarray(array, np.uint64).data
