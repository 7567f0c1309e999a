//! Suspension policies that change while the array runs: an operation keeps the policies with which it began.

use super::Nand;
use super::config::Suspension;
use crate::die::LongOp;
use crate::suspend::SuspendPolicy;

impl Nand {
    /// Replaces the suspension policies, between two events. Programs and erases that are on their dies keep theirs; the earlier
    /// policies stay in memory, some 300 bytes for each change.
    pub fn set_suspension(&mut self, suspension: Suspension) {
        self.earlier_suspension.push(self.config.suspension());
        self.config.set_suspension(suspension);
    }

    /// Number of the policies with which operations begin now.
    #[inline]
    pub(super) fn policies_number(&self) -> u32 {
        self.earlier_suspension.len() as u32
    }

    /// The policy of an operation.
    #[inline]
    pub(super) fn suspend_policy(&self, op: &LongOp) -> &SuspendPolicy {
        if op.policies == self.policies_number() {
            self.config.suspend_policy(op.effect)
        } else {
            self.earlier_policy(op)
        }
    }

    #[cold]
    fn earlier_policy(&self, op: &LongOp) -> &SuspendPolicy {
        self.earlier_suspension[op.policies as usize].policy(op.effect)
    }
}
