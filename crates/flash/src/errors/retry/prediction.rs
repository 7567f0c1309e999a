//! Keys and predictions of dies that repeat sensings themselves.

use interpulse_engine::Duration;
use interpulse_settings::{choices, default, keys};

/// Time of a prediction. The accessible text of the publication (its abstract) prints none.
const PREDICTION: Duration = Duration::from_ns(2_500);
/// Share of wrong predictions, of either kind. The abstract prints none.
const WRONG: f64 = 0.013;

keys! {
    /// Retries inside a die.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct OnDie, pub(super) fn read(s) {
        /// time in which a die predicts whether what it sensed can be corrected (assumed)
        pub prediction: Duration =
            ["retry-prediction"] duration(default(PREDICTION).at_most(Duration::from_ms(10))),
        /// share of uncorrectable sensings that a die takes for correctable, so that their data moves and fails (assumed)
        pub missed: f64 = ["retry-missed"] fraction(default(WRONG).at_most(1.0)),
        /// share of correctable sensings that a die takes for uncorrectable and repeats for nothing (assumed)
        pub needless: f64 = ["retry-needless"] fraction(default(WRONG).at_most(1.0)),
        /// most times that a die repeats a sensing before the data moves anyway
        pub most: u32 = ["retry-on-die"] u32(default(1).within(1..=8)),
        /// read offsets of a sensing that a die repeats
        pub offsets: Offsets = ["retry-offsets"] choice(Some("calibrated"), Offsets::ALL),
    }
}

choices! {
    /// Read offsets of a repeated sensing.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Offsets {
        /// the last attempt of the error table: the die derives the offsets from the sensed data
        Calibrated = "calibrated",
        /// the next attempt of the error table
        Next = "next",
    }
}

impl OnDie {
    /// Attempt of a table of `attempts` after attempt `step`. Attempts beyond the table have its last offsets, and errors of
    /// their own.
    pub fn step_after(&self, step: u8, attempts: u32) -> u8 {
        let next = step.saturating_add(1);
        match self.offsets {
            Offsets::Calibrated => next.max((attempts - 1).min(255) as u8),
            Offsets::Next => next,
        }
    }

    /// Whether a die takes a sensing for uncorrectable, whose decode `fails` or does not; `chance` is a random number.
    pub fn predicts_failure(&self, fails: bool, chance: u64) -> bool {
        let wrong = if fails { self.missed } else { self.needless };
        let share = (chance >> 11) as f64 / 2f64.powi(53);
        fails != (share < wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEXT: OnDie =
        OnDie { prediction: PREDICTION, missed: 0.25, needless: 0.0, most: 3, offsets: Offsets::Next };

    #[test]
    fn offsets_are_the_next_or_the_last_of_the_table() {
        assert_eq!([0, 1, 5].map(|step| NEXT.step_after(step, 6)), [1, 2, 6]);
        let calibrated = OnDie { offsets: Offsets::Calibrated, ..NEXT };
        assert_eq!([0, 4, 5].map(|step| calibrated.step_after(step, 6)), [5, 5, 6]);
    }

    #[test]
    fn predictions_are_wrong_as_often_as_configured() {
        let quarter = 1u64 << 62;
        assert!(NEXT.predicts_failure(true, quarter) && !NEXT.predicts_failure(true, quarter - 1));
        assert!([0, u64::MAX].iter().all(|&chance| !NEXT.predicts_failure(false, chance)));
        let always = OnDie { needless: 1.0, missed: 1.0, ..NEXT };
        assert!([0, u64::MAX].iter().all(|&chance| always.predicts_failure(false, chance)));
        assert!([0, u64::MAX].iter().all(|&chance| !always.predicts_failure(true, chance)));
    }
}
