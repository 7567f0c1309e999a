//! Compensated resume: the longer a program was suspended, the lower its next pulse (US 11,087,847, claims 4 and 5; US 11,646,087,
//! claims 1 and 3; US 11,626,163), and all later ones by as much, so that the program needs more loops. No figure is published.

use interpulse_engine::Duration;
use interpulse_engine::random::mix;
use interpulse_settings::{default, keys};

keys! {
    /// Fall of the program voltage at a resume: `per_e_fold * ln(1 + t / after)` steps of the voltage, at most one.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Compensation, pub fn read(s) {
        /// fall of the program voltage at a resume per e-fold of the suspended time, in steps of the voltage
        pub per_e_fold: f64 = ["compensation"] f64(default(0.0).within(0.0..=1.0)),
        /// suspended time after which the fall begins
        pub after: Duration = ["compensation-after"] duration(
            default(Compensation::NONE.after).at_least(Duration::from_us(1)).at_most(Duration::from_ms(100_000))
        ),
    }
}

impl Compensation {
    /// No compensation. The onset is that of the loss of charge of the preset `a4-tlc` of cells: about a program loop, assumed.
    pub const NONE: Compensation = Compensation { per_e_fold: 0.0, after: Duration::from_us(100) };

    /// Whether the voltage falls at all.
    #[inline]
    pub fn is_used(&self) -> bool {
        self.per_e_fold > 0.0
    }

    /// Fall after a suspension of this length, in steps of the voltage: the first step after a resume is smaller, not negative.
    pub fn steps(&self, suspended: Duration) -> f64 {
        let e_folds = libm::log1p(suspended.as_ns() as f64 / self.after.as_ns() as f64);
        (self.per_e_fold * e_folds).min(1.0)
    }

    /// Loops that a fall from `before` to `after` steps in all adds to the program `key`: a program that passes with a share of a
    /// step to spare needs none for a fall within that share, which is a fixed function of the key.
    pub fn loops(before: f64, after: f64, key: u64) -> u32 {
        let spare = (mix(key) >> 11) as f64 / (1u64 << 53) as f64;
        let needed = |fall: f64| libm::floor(fall + spare) as u32;
        needed(after) - needed(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tenth of a step per e-fold of 100 us: after 100 (e - 1) us a tenth, after 100 (e^3 - 1) us three, after a second 0.92.
    #[test]
    fn the_fall_is_logarithmic_and_bounded() {
        let tenth = Compensation { per_e_fold: 0.1, ..Compensation::NONE };
        for (ns, steps) in [(0, 0.0), (171_828, 0.1), (1_908_554, 0.3), (1_000_000_000, 0.921)] {
            assert!((tenth.steps(Duration::from_ns(ns)) - steps).abs() < 1e-3, "{ns} ns");
        }
        let whole = Compensation { per_e_fold: 1.0, ..Compensation::NONE };
        assert_eq!(whole.steps(Duration::from_ms(1)), 1.0);
        assert!(!Compensation::NONE.is_used());
    }

    /// Falls of 0.3 steps, five times: of 10,000 programs each needs one or two loops more, 1.5 on average.
    #[test]
    fn loops_follow_the_fall_on_average() {
        let more = |key| {
            (0..5).map(|k| Compensation::loops(f64::from(k) * 0.3, f64::from(k + 1) * 0.3, key)).sum::<u32>()
        };
        let sum: u32 = (0..10_000).map(more).sum();
        assert!((0..10_000).all(|key| (1..=2).contains(&more(key))));
        assert!((14_800..15_200).contains(&sum), "{sum}");
    }
}
