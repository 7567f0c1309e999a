//! Tiers of suspensions (US 10,956,081): an operation has a budget of suspensions in each of several tiers, and in each tier at
//! least so much progress between two of them; the sum of the budgets is the most that it has at all.

use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Section, required};

/// Budgets of an operation; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tiers {
    /// Suspensions up to the end of each tier, and the shortest time from resumed pulses to the next stop in it.
    tiers: Vec<(u32, Duration)>,
}

impl Tiers {
    /// No tiers.
    pub const NONE: Tiers = Tiers { tiers: Vec::new() };

    /// Reads the keys of both lists.
    pub(super) fn read(s: &mut Section, longest: Duration) -> Result<Tiers, ConfigError> {
        let doc = "suspensions of one operation in each tier; then it runs to its end; no tiers by default";
        let budgets = s.list_u32("tier-suspends", doc, Some(&[]), required().within(1..=1_000_000))?;
        let doc = "shortest time from the resumed pulses to the next stop in each tier";
        let times = s.list_duration("tier-intervals", doc, Some(&[]), required().at_most(longest))?;
        let expected = format!("as many times as tier-suspends has budgets: {}", budgets.len());
        s.check(budgets.len() == times.len(), "tier-intervals", expected)?;
        Ok(Tiers::of(&budgets, &times))
    }

    /// Tiers with these budgets and shortest times.
    pub fn of(budgets: &[u32], times: &[Duration]) -> Tiers {
        let up_to = budgets.iter().scan(0u32, |sum, budget| {
            *sum = sum.saturating_add(*budget);
            Some(*sum)
        });
        Tiers { tiers: up_to.zip(times.iter().copied()).collect() }
    }

    /// Whether an operation with `suspends` suspensions has used all budgets.
    #[inline]
    pub(super) fn are_used_up(&self, suspends: u32) -> bool {
        self.tiers.last().is_some_and(|&(sum, _)| suspends >= sum)
    }

    /// Shortest time from resumed pulses to the next stop of an operation with `suspends` suspensions.
    #[inline]
    pub(super) fn interval(&self, suspends: u32) -> Duration {
        self.tiers.iter().find(|&&(sum, _)| suspends < sum).map_or(Duration::ZERO, |&(_, time)| time)
    }
}
