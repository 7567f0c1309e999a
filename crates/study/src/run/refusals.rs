//! Check of a run under way: a device that refuses every request has nothing to measure.

use interpulse_engine::Status;
use interpulse_host::Window;

/// Requests of a window after which one that has only been refused ends.
const LEAST: u64 = 1 << 16;

/// An error if the device has refused every request of a window that is long enough to show that this will not change. A drive
/// that has become read-only still has its totals to report.
pub(super) fn check(window: &Window) -> Result<(), String> {
    let (refused, requests) = (&window.refused, window.counters.requests);
    let counted = |status: Status| refused.writes[status as usize] + refused.others[status as usize];
    if requests < LEAST || refused.count() < requests || counted(Status::NamespaceIsWriteProtected) > 0 {
        return Ok(());
    }
    let most = Status::ERRORS.iter().max_by_key(|&&status| counted(status)).expect("there are errors");
    Err(format!(
        "the drive refused all of the first {requests} requests that were measured, most with {}: give flows that the drive can \
         serve, or a drive that serves them",
        most.name()
    ))
}
