//! `deferred`: D-ES of Kim et al., ATC'19. The train finishes the current loop, up to its safe point, before reads are
//! served; programs stop at the same point as with `loop-boundary`.
//!
//! The study charges 100 us for the termination of a pulse (slides "Immediate erase suspension"). A safe point needs no
//! termination: the slides draw no such time for D-ES, and the authors' simulator serves the read right after the loop.

use super::loop_boundary::LoopBoundary;
use super::{StopRequest, Stop, SuspendScheme};
use interpulse_engine::Duration;
use interpulse_settings::{choices, keys};

keys! {
    /// Stop at the next safe point.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Deferred, pub(super) fn read(s) {
        /// cost of entering a suspension between two loops
        pub entry: SafePointEntry = ["safe-point-entry"] choice(Some("none"), SafePointEntry::ALL),
    }
}

choices! {
    /// Cost of entering a suspension between two loops.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SafePointEntry {
        /// nothing: the voltage is already off after the loop (Kim et al., ATC'19)
        None = "none",
        /// the part's suspend entry, as at any other point
        Part = "part",
    }
}

impl Deferred {
    /// The value of the study.
    pub const DEFAULT: Deferred = Deferred { entry: SafePointEntry::None };
}

impl SuspendScheme for Deferred {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        let stop = LoopBoundary.stop(request)?;
        Some(match self.entry {
            SafePointEntry::None => Stop { entry: Duration::ZERO, ..stop },
            SafePointEntry::Part => stop,
        })
    }
}
