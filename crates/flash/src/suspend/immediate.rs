//! `immediate`: I-ES of Kim et al., ATC'19. The train stops at once, at the part's cost of entry, and restarts the
//! interrupted loop from its beginning, which is the last safe point. Nothing makes it progress while reads keep
//! interrupting the same loop: an erase can starve, and with it the writes that wait for its block.

use super::{Ask, Stop, SuspendScheme};

/// Stop at once and restart the interrupted loop.
pub struct Immediate;

impl SuspendScheme for Immediate {
    #[inline]
    fn stop(&self, ask: &Ask) -> Option<Stop> {
        Some(ask.cut(ask.at.train.loop_start(ask.at.elapsed)))
    }

    fn progresses(&self) -> bool {
        false
    }
}
