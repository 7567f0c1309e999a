//! `exact`: the erase suspension that ATC'19 compares itself with (Kim et al., "ES"). The train stops at once, at
//! the part's cost of entry, and goes on with exactly the time that was left, verifies included. With
//! `resume-ramp` a pulse that is resumed midway first has to regain its voltage.

use super::{Ask, Stop, SuspendScheme};

/// Stop at once and keep the exact progress.
pub struct Exact;

impl SuspendScheme for Exact {
    #[inline]
    fn stop(&self, ask: &Ask) -> Option<Stop> {
        Some(ask.cut(ask.at.elapsed))
    }

    fn progresses(&self) -> bool {
        false
    }
}
