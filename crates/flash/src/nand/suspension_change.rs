//! Suspension policies that change while the array runs: an operation keeps the policy with which it began.

use super::Nand;
use super::config::Suspension;
use crate::die::LongOp;
use crate::suspend::SuspendPolicy;

impl Nand {
    /// Replaces the suspension policies, between two events. Programs and erases that are on their dies keep theirs; the earlier
    /// policies stay in memory, some 300 bytes for each change.
    pub fn set_suspension(&mut self, suspension: Suspension) {
        self.policies.replace(suspension);
    }

    /// The policy of an operation.
    #[inline]
    pub(super) fn suspend_policy(&self, op: &LongOp) -> &SuspendPolicy {
        self.policies.get(op.policy)
    }
}
