//! `deferred`: D-ES of Kim et al., ATC'19: the current loop is finished, to its safe point, then the reads are
//! served. What a loop is to an erase it is to a program, so this is the stop of `loop-boundary`, under the name
//! that the erase suspension study gave it.

use super::loop_boundary::LoopBoundary;
use super::{Ask, Stop, SuspendScheme};

/// Stop at the next safe point.
pub struct Deferred;

impl SuspendScheme for Deferred {
    #[inline]
    fn stop(&self, ask: &Ask) -> Option<Stop> {
        LoopBoundary.stop(ask)
    }
}
