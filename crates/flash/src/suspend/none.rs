//! `none`: a started operation is never stopped.

use super::{Ask, Stop, SuspendScheme};

/// The operation runs to its end.
pub struct None;

impl SuspendScheme for None {
    #[inline]
    fn stop(&self, _: &Ask) -> Option<Stop> {
        Option::None
    }
}
