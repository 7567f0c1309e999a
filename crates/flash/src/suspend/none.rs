//! `none`: a started operation is never stopped.

use super::{Progress, Stop, SuspendCosts, SuspendScheme};
use crate::pulse::PulseTrain;

/// The operation runs to its end.
pub struct None;

impl SuspendScheme for None {
    #[inline]
    fn stop(&self, _: &PulseTrain, _: Progress, _: &SuspendCosts) -> Option<Stop> {
        Option::None
    }
}
