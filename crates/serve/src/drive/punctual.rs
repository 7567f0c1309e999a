//! Punctual waking of the thread of a drive.
//!
//! Measured with `examples/drive_rate.rs` on two busy cores (load 7), commands of QD16 at dilation 20: median and p95 of the
//! slip are 36 us and 3.2 ms with the settings of the system, 25 us and 82 us with real-time priority, and 7 us and 24 us if
//! the last 20 us of a wait are spun.

use super::clock::WallTime;
use super::queue::Queue;
#[cfg(target_os = "linux")]
use std::thread::available_parallelism;

/// The end of a wait that is spun, in ns: about as much as the system wakes a thread late.
const SPUN: u64 = 20_000;

/// Lets the system wake the calling thread in time: without timer slack, by which Linux wakes threads 50 us late to save power,
/// and before threads of normal priority, as the drive that it stands for does not wait for programs of its host either. Returns
/// whether the system grants the priority, for which it wants CAP_SYS_NICE or a limit `rtprio`. With one core the thread does
/// without: a drive that simulates more slowly than life would leave nothing to its clients.
#[cfg(target_os = "linux")]
pub fn be_punctual() -> bool {
    // Waits are less punctual where the system refuses.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    if available_parallelism().map_or(1, usize::from) < 2 {
        return false;
    }
    let lowest = libc::sched_param { sched_priority: 1 };
    // SAFETY: the call reads `lowest` and changes the scheduling of the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_RR, &raw const lowest) == 0 }
}

/// Other systems wake threads as they do.
#[cfg(not(target_os = "linux"))]
pub fn be_punctual() -> bool {
    false
}

/// Waits until `until` or until something waits for the drive. With `exact` the end of the wait is spun.
pub fn wait(queue: &Queue, until: Option<WallTime>, exact: bool) {
    let Some(end) = until.filter(|_| exact) else { return queue.sleep(until) };
    queue.sleep(Some(WallTime(end.0.saturating_sub(SPUN))));
    while !queue.has_work() && queue.now() < end {
        std::hint::spin_loop();
    }
}
