//! Requests and completions as the host sees them: bytes, namespaces and NVMe status codes.

use interpulse_engine::account::CAUSES;
use interpulse_engine::{Duration, Op, SimTime, Status, ZoneAction};

/// Operations by code: name in messages and bindings, operation.
pub const OPS: [(&str, Op); 15] = [
    ("read", Op::Read),
    ("write", Op::Write),
    ("trim", Op::Trim),
    ("flush", Op::Flush),
    ("append", Op::Append),
    ("zone_open", Op::Zone(ZoneAction::Open)),
    ("zone_open_zrwa", Op::Zone(ZoneAction::OpenZrwa)),
    ("zone_commit", Op::Zone(ZoneAction::Commit)),
    ("zone_close", Op::Zone(ZoneAction::Close)),
    ("zone_finish", Op::Zone(ZoneAction::Finish)),
    ("zone_reset", Op::Zone(ZoneAction::Reset)),
    ("zone_offline", Op::Zone(ZoneAction::Offline)),
    ("zone_report", Op::Zone(ZoneAction::Report)),
    ("write_zeroes", Op::WriteZeroes),
    ("compare", Op::Compare),
];

/// The operation of a code, its place in [`OPS`].
#[inline]
pub fn op_of_code(code: u32) -> Option<Op> {
    OPS.get(code as usize).map(|&(_, op)| op)
}

/// Code of an operation, its place in [`OPS`].
#[inline]
pub(crate) fn code_of_op(op: Op) -> u8 {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
        Op::Flush => 3,
        Op::Append => 4,
        Op::Zone(action) => match action {
            ZoneAction::Open => 5,
            ZoneAction::OpenZrwa => 6,
            ZoneAction::Commit => 7,
            ZoneAction::Close => 8,
            ZoneAction::Finish => 9,
            ZoneAction::Reset => 10,
            ZoneAction::Offline => 11,
            ZoneAction::Report => 12,
        },
        Op::WriteZeroes => 13,
        Op::Compare => 14,
        Op::Vector(_) => unreachable!("a submission refuses it"),
    }
}

/// A request of the host. Offsets and lengths are multiples of 512 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The operation.
    pub op: Op,
    /// Namespace, counted from 1 as in NVMe; a device without namespaces is namespace 1.
    pub namespace: u32,
    /// Submission queue pair, counted from 0 (`host.queue-weights`).
    pub queue: u32,
    /// Placement handle of a write (`ftl.placement`), with reclaim groups group x handles + handle; 0 without handles.
    pub handle: u8,
    /// First byte within the namespace; of a flush 0.
    pub offset: u64,
    /// Length in bytes, at most 1 GiB, or 2 TiB less 512 bytes of a trim; 0 for a flush and for zone management, except for a
    /// report, whose length is that of its buffer.
    pub bytes: u64,
    /// Returned with the completion.
    pub cookie: u64,
}

impl Request {
    const fn new(op: Op, offset: u64, bytes: u64) -> Request {
        Request { op, namespace: 1, queue: 0, handle: 0, offset, bytes, cookie: 0 }
    }

    /// A read from queue 0 of namespace 1.
    pub const fn read(offset: u64, bytes: u64) -> Request {
        Request::new(Op::Read, offset, bytes)
    }

    /// A write to queue 0 of namespace 1.
    pub const fn write(offset: u64, bytes: u64) -> Request {
        Request::new(Op::Write, offset, bytes)
    }

    /// A trim (deallocation) from queue 0 of namespace 1.
    pub const fn trim(offset: u64, bytes: u64) -> Request {
        Request::new(Op::Trim, offset, bytes)
    }

    /// A flush of namespace 1.
    pub const fn flush() -> Request {
        Request::new(Op::Flush, 0, 0)
    }
}

/// NVMe status of a completion: status code type in bits 8 to 10, status code in bits 0 to 7 (NVMe base specification 2.0,
/// figures 95 to 98; Zoned Namespace Command Set; Open-Channel SSD 2.0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StatusCode(pub u16);

impl StatusCode {
    /// Successful Completion.
    pub const SUCCESS: StatusCode = StatusCode(0);
    /// Commands Aborted due to Power Loss Notification: power was lost while the request was outstanding.
    pub const ABORTED_BY_POWER_LOSS: StatusCode = StatusCode(0x005);

    /// Name in the specification; `None` for a code that no device returns.
    pub fn name(self) -> Option<&'static str> {
        if self == StatusCode::ABORTED_BY_POWER_LOSS {
            return Some("Commands Aborted due to Power Loss Notification");
        }
        let mut all = std::iter::once(Status::Success).chain(Status::ERRORS.iter().copied());
        all.find(|&status| StatusCode::from(status) == self).map(Status::name)
    }
}

impl From<Status> for StatusCode {
    #[inline]
    fn from(status: Status) -> StatusCode {
        StatusCode(match status {
            Status::Success => 0x000,
            Status::InvalidOpcode => 0x001,
            Status::InvalidField => 0x002,
            Status::CommandAbortRequested => 0x007,
            Status::NamespaceIsWriteProtected => 0x020,
            Status::FormatInProgress => 0x084,
            Status::InvalidZoneOperation => 0x1b6,
            Status::ZrwaResourcesUnavailable => 0x1b7,
            Status::ZoneBoundaryError => 0x1b8,
            Status::ZoneIsFull => 0x1b9,
            Status::ZoneIsReadOnly => 0x1ba,
            Status::ZoneIsOffline => 0x1bb,
            Status::ZoneInvalidWrite => 0x1bc,
            Status::TooManyActiveZones => 0x1bd,
            Status::TooManyOpenZones => 0x1be,
            Status::InvalidZoneStateTransition => 0x1bf,
            Status::WriteFault => 0x280,
            Status::UnrecoveredReadError => 0x281,
            Status::OfflineChunk => 0x2c0,
            Status::InvalidReset => 0x2c1,
            Status::OutOfOrderWrite => 0x2f2,
        })
    }
}

/// A completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Number that its submission returned.
    pub tag: u64,
    /// The request's cookie.
    pub cookie: u64,
    /// The operation.
    pub op: Op,
    /// Whether the request was executed, and otherwise why not.
    pub status: StatusCode,
    /// When the device's submission queue took it: the instant of its submission, or the return of power if that was later.
    pub submitted: SimTime,
    /// When it completed.
    pub completed: SimTime,
    /// Bytes moved; 0 if it was refused.
    pub bytes: u64,
    /// Byte within the namespace at which an append placed its data.
    pub placed: Option<u64>,
    /// Latency in ns by cause, in the order of [`CAUSE_INFO`](crate::CAUSE_INFO). All zero for an array, after a power loss, and
    /// without [`Options::causes`](crate::Options::causes); the sum is the latency otherwise.
    pub causes: [u64; CAUSES],
}

impl Completion {
    /// Code of the operation, its place in [`OPS`].
    #[inline]
    pub fn op_code(&self) -> u32 {
        code_of_op(self.op).into()
    }

    /// Time from submission to completion.
    pub fn latency(&self) -> Duration {
        self.completed.since(self.submitted)
    }

    /// Whether the request was executed.
    pub fn is_success(&self) -> bool {
        self.status == StatusCode::SUCCESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_has_the_code_of_its_place() {
        for (code, (name, op)) in (0..).zip(OPS) {
            assert_eq!((op_of_code(code), code_of_op(op)), (Some(op), code as u8), "{name}");
        }
        assert_eq!(op_of_code(OPS.len() as u32), None);
    }

    #[test]
    fn every_status_has_a_code_of_its_own() {
        let mut seen = std::collections::BTreeSet::from([StatusCode::ABORTED_BY_POWER_LOSS.0]);
        for &status in std::iter::once(&Status::Success).chain(Status::ERRORS) {
            let code = StatusCode::from(status);
            assert!(seen.insert(code.0), "{status:?}");
            assert_eq!(code.name(), Some(status.name()));
        }
        assert_eq!(StatusCode(0x7ff).name(), None);
    }
}
