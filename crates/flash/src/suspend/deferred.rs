//! `deferred`: D-ES of Kim et al., ATC'19: the current loop is finished, to its safe point, then the reads are
//! served. What a loop is to an erase it is to a program, so this stops where `loop-boundary` stops.
//!
//! What the study charges for a suspension, 100 us, is for terminating a pulse (slides "Immediate erase suspension"). At a
//! safe point nothing is left to terminate: the slides draw no such time for D-ES and put its tail at one pulse, and the
//! authors' program serves the read as soon as the loop has ended.

use super::loop_boundary::LoopBoundary;
use super::{Ask, Stop, SuspendScheme};
use interpulse_engine::Duration;
use interpulse_settings::{choices, keys};

keys! {
    /// Stop at the next safe point.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Deferred, pub(super) fn read(s) {
        /// what it costs to enter a suspension between two loops
        pub entry: SafePointEntry = ["safe-point-entry"] choice(Some("none"), SafePointEntry::ALL),
    }
}

choices! {
    /// What it costs to enter a suspension between two loops.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SafePointEntry {
        /// nothing: the loop has taken its voltage off (Kim et al., ATC'19)
        None = "none",
        /// the part's suspend entry, as anywhere else
        Part = "part",
    }
}

impl Deferred {
    /// As the study has it.
    pub const DEFAULT: Deferred = Deferred { entry: SafePointEntry::None };
}

impl SuspendScheme for Deferred {
    #[inline]
    fn stop(&self, ask: &Ask) -> Option<Stop> {
        let stop = LoopBoundary.stop(ask)?;
        Some(match self.entry {
            SafePointEntry::None => Stop { entry: Duration::ZERO, ..stop },
            SafePointEntry::Part => stop,
        })
    }
}
