//! Suspension policies of an array since its beginning, by number.

use super::config::Suspension;
use crate::command::Effect;
use crate::suspend::SuspendPolicy;

/// The suspension policies of an array since its beginning, so that an operation finds its own by its number alone.
#[derive(Clone)]
pub(super) struct SuspendPolicies {
    /// Of programs and of erases, in pairs.
    all: Vec<SuspendPolicy>,
    /// Number of the policy with which programs begin now; the one of erases is the next.
    program: u32,
}

impl SuspendPolicies {
    pub(super) fn new(suspension: Suspension) -> SuspendPolicies {
        SuspendPolicies { all: vec![suspension.program, suspension.erase], program: 0 }
    }

    /// Number of the policy with which operations of this effect begin now.
    #[inline]
    pub(super) fn number(&self, effect: Effect) -> u32 {
        self.program + u32::from(effect == Effect::Erases)
    }

    /// The policy of this number.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &SuspendPolicy {
        &self.all[number as usize]
    }

    /// The policies with which programs and erases begin now.
    pub(super) fn present(&self) -> [&SuspendPolicy; 2] {
        [Effect::Programs, Effect::Erases].map(|effect| self.get(self.number(effect)))
    }

    /// As [`SuspendPolicies::present`], to change them for operations that are on their dies too.
    pub(super) fn present_mut(&mut self) -> &mut [SuspendPolicy] {
        &mut self.all[self.program as usize..]
    }

    /// Begins another pair of policies.
    pub(super) fn replace(&mut self, suspension: Suspension) {
        self.program = self.all.len() as u32;
        self.all.extend([suspension.program, suspension.erase]);
    }
}
