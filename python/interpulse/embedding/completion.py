"""Completions of a device: one, and columns of many."""

from __future__ import annotations

from typing import NamedTuple

import interpulse._core as _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OPS, _CAUSES, _STATUSES = _core.device_names()

OPS = tuple(_OPS)
"""Names of the operations, in the order of their codes."""

CAUSES = tuple(_CAUSES)
"""Names of the causes of latency, in the order of `causes_ns`."""

STATUSES = dict(_STATUSES)
"""Names of the NVMe statuses by code."""


class Completion(NamedTuple):
    """A completed request."""

    tag: int
    """Number of the request, as `Device.submit` returned it."""
    cookie: int
    """That of the request."""
    op: str
    """The operation."""
    status: int
    """NVMe status: type in bits 8 to 10, code in bits 0 to 7; 0 is success, `STATUSES` has the names."""
    submitted_ns: int
    """When the submission queue took it: its arrival, or the return of power if that was later."""
    completed_ns: int
    """When it completed."""
    bytes: int
    """Bytes moved; 0 if it was refused."""
    placed: int | None
    """Byte within the namespace at which an append placed its data."""
    causes_ns: tuple[int, ...]
    """Latency by cause in ns, in the order of `CAUSES`; zeros for an array, after a power loss and without `causes`."""

    @property
    def latency_ns(self) -> int:
        """Time from submission to completion, in ns."""
        return self.completed_ns - self.submitted_ns

    @property
    def causes(self) -> dict[str, int]:
        """Latency in ns by name of the cause, without zeros."""
        return {name: ns for name, ns in zip(CAUSES, self.causes_ns, strict=True) if ns}


class Completions(NamedTuple):
    """Completions as columns: read-only NumPy arrays of one length n, in the order of completion."""

    tag: NDArray[np.uint64]
    """Numbers of the requests, (n,)."""
    cookie: NDArray[np.uint64]
    """Those of the requests, (n,)."""
    op: NDArray[np.uint8]
    """Codes of the operations, (n,): places in `OPS`."""
    status: NDArray[np.uint16]
    """NVMe statuses, (n,); 0 is success."""
    submitted_ns: NDArray[np.uint64]
    """When the submission queue took them, in ns, (n,)."""
    completed_ns: NDArray[np.uint64]
    """When they completed, in ns, (n,)."""
    bytes: NDArray[np.uint64]
    """Bytes moved, (n,)."""
    placed: NDArray[np.int64]
    """Bytes at which appends placed their data, (n,); -1 for other requests."""
    causes_ns: NDArray[np.uint64]
    """Latencies by cause in ns, (n, len(CAUSES))."""

    @property
    def latency_ns(self) -> NDArray[np.uint64]:
        """Times from submission to completion, in ns, (n,)."""
        return self.completed_ns - self.submitted_ns
