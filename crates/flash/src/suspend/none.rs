//! `none`: no suspension.

use super::{StopRequest, Stop, SuspendScheme};

/// The operation runs to its end.
pub struct None;

impl SuspendScheme for None {
    #[inline]
    fn stop(&self, _: &StopRequest) -> Option<Stop> {
        Option::None
    }
}
