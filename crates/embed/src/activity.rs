//! Activity of a device at an instant: dies at work and suspended, garbage collection, write cache.

use interpulse_drive::Drive;
use interpulse_flash::die::{Die, State};

/// What the drives of a device do at an instant, all drives together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Dies.
    pub dies: u32,
    /// Dies that are not idle, those with a suspended operation included.
    pub busy_dies: u32,
    /// Dies with a suspended program or erase.
    pub suspended_dies: u32,
    /// Lanes: groups of planes with free blocks of their own.
    pub lanes: u32,
    /// Lanes whose free blocks are below the threshold of garbage collection.
    pub collecting_lanes: u32,
    /// Units in the write cache that flash does not hold yet.
    pub cached_units: u32,
}

impl Activity {
    pub(crate) fn of(drives: &[Drive]) -> Activity {
        let mut all = Activity::default();
        for drive in drives {
            for die in drive.nand().dies() {
                all.dies += 1;
                all.busy_dies += u32::from(die.state() != State::Idle);
                all.suspended_dies += u32::from(is_suspended(die));
            }
            all.lanes += drive.lanes();
            all.collecting_lanes += drive.collecting_lanes();
            all.cached_units += drive.cache_used();
        }
        all
    }
}

/// Whether a program or erase is suspended on the die, whatever the die does meanwhile.
fn is_suspended(die: &Die) -> bool {
    let stopped = !matches!(die.state(), State::Pulsing | State::Stopping);
    die.beneath().is_some() || stopped && die.long().is_some_and(|op| op.suspends > 0)
}
