//! Time unit inference from plausible request rates and recording dates.

use super::unit::{Stamp, TimeUnit};
use std::ops::RangeInclusive;

/// Typical requests per second, required for a unit other than the documented one.
const COMFORTABLE: RangeInclusive<f64> = 0.5..=2e5;
/// Requests per second accepted for the documented unit of a format.
const POSSIBLE: RangeInclusive<f64> = 1e-5..=1e7;
/// Requests per second below which the documented unit of a format is doubtful: one in 50 s.
const RARE: f64 = 0.02;
/// Accepted range if only the columns identify the format.
const LIKELY: RangeInclusive<f64> = 0.05..=1e6;
/// Accepted range of times that look like dates: a counter of the same magnitude results in a lower rate.
const DATED: RangeInclusive<f64> = 0.05..=1e6;

/// 2000 and 2040, in seconds since 1970.
const YEARS: (u64, u64) = (946_684_800, 2_208_988_800);
/// 1970 in seconds since 1601, the origin of Windows times.
const WINDOWS: u64 = 11_644_473_600;

/// Statistics of the times of the first rows.
#[derive(Default)]
pub(super) struct Times {
    pub rows: u64,
    origin: u64,
    /// Smallest and largest whole part.
    whole: Option<(u64, u64)>,
    /// Smallest and largest time since the whole part of the first.
    range: Option<(f64, f64)>,
    decimals: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Inferred {
    /// The documented unit is plausible.
    Documented(TimeUnit),
    /// The times lie in the range of dates in this unit.
    Date(TimeUnit),
    /// The documented unit is implausible, this one is plausible.
    Rate(TimeUnit),
    /// Neither the documented unit nor another one is plausible.
    Doubtful(TimeUnit),
}

impl Times {
    pub fn count(&mut self, stamp: Stamp) {
        let Some((whole, part, decimals)) = stamp.parts() else { return };
        if self.rows == 0 {
            self.origin = whole;
        }
        self.rows += 1;
        self.decimals = self.decimals.max(decimals);
        let (least, most) = self.whole.unwrap_or((whole, whole));
        self.whole = Some((least.min(whole), most.max(whole)));
        let since =
            if whole < self.origin { -((self.origin - whole) as f64) } else { (whole - self.origin) as f64 };
        let (least, most) = self.range.unwrap_or((since + part, since + part));
        self.range = Some((least.min(since + part), most.max(since + part)));
    }

    /// Mean requests per second for times in `unit`; `None` if all times are equal.
    pub fn rate(&self, unit: TimeUnit) -> Option<f64> {
        let (least, most) = self.range?;
        (most > least).then(|| (self.rows - 1) as f64 / ((most - least) * unit.ns() as f64 * 1e-9))
    }

    /// Usual unit of times with these decimals.
    pub fn usual(&self) -> TimeUnit {
        // DiskSim prints six decimals of a ms; nine decimals indicate ns in seconds.
        match self.decimals {
            0 => TimeUnit::Ns,
            1..=6 => TimeUnit::Ms,
            _ => TimeUnit::S,
        }
    }

    /// Unit of rows of which only the columns are known.
    pub fn of_columns(&self) -> Inferred {
        let documented = self.usual();
        let dates = [TimeUnit::Ticks, TimeUnit::Ns, TimeUnit::Us, TimeUnit::Ms, TimeUnit::S];
        match dates.into_iter().find(|&unit| self.possible(unit) && self.is_date(unit)) {
            Some(unit) if unit != documented => Inferred::Date(unit),
            _ => self.infer(documented, LIKELY),
        }
    }

    /// Unit of rows in a format with a `documented` unit.
    pub fn of_format(&self, documented: TimeUnit) -> Inferred {
        match self.infer(documented, POSSIBLE) {
            Inferred::Documented(unit) if self.is_rare(unit) => Inferred::Doubtful(unit),
            inferred => inferred,
        }
    }

    /// Whether times that are no dates result in hardly any requests.
    fn is_rare(&self, unit: TimeUnit) -> bool {
        self.rate(unit).is_some_and(|rate| rate < RARE) && !self.is_in_years(unit)
    }

    /// First unit other than `but` that results in a typical rate.
    pub fn typical(&self, but: TimeUnit) -> Option<TimeUnit> {
        let comfortable = |&unit: &TimeUnit| {
            unit != but && self.possible(unit) && self.rate(unit).is_some_and(|r| COMFORTABLE.contains(&r))
        };
        let others = [TimeUnit::Ns, TimeUnit::Ms, TimeUnit::Us, TimeUnit::S, TimeUnit::Ticks];
        others.into_iter().find(comfortable)
    }

    fn infer(&self, documented: TimeUnit, accepted: RangeInclusive<f64>) -> Inferred {
        if self.possible(documented) && self.rate(documented).is_none_or(|rate| accepted.contains(&rate)) {
            return Inferred::Documented(documented);
        }
        self.typical(documented).map_or(Inferred::Doubtful(documented), Inferred::Rate)
    }

    /// Whether `unit` allows the number of decimals.
    fn possible(&self, unit: TimeUnit) -> bool {
        self.decimals == 0 || !unit.is_whole()
    }

    /// Whether all times are dates in `unit` at a plausible request rate.
    fn is_date(&self, unit: TimeUnit) -> bool {
        // Without a rate, only magnitudes that a counter does not reach.
        self.is_in_years(unit) && self.rate(unit).map_or(unit < TimeUnit::Ms, |rate| DATED.contains(&rate))
    }

    /// Whether all times lie in the range of dates in `unit`.
    fn is_in_years(&self, unit: TimeUnit) -> bool {
        let from = if unit == TimeUnit::Ticks { WINDOWS } else { 0 };
        let in_units = |seconds: u64| u128::from(from + seconds) * 1_000_000_000 / u128::from(unit.ns());
        let Some((least, most)) = self.whole else { return false };
        u128::from(least) >= in_units(YEARS.0) && u128::from(most) <= in_units(YEARS.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(all: &[&str]) -> Times {
        let mut times = Times::default();
        all.iter().for_each(|text| times.count(Stamp::Text(text)));
        times
    }

    fn every(step: u64, from: u64, rows: u64) -> Times {
        let mut times = Times::default();
        (0..rows).for_each(|row| times.count(Stamp::Number(from + row * step)));
        times
    }

    #[test]
    fn the_unit_of_simulator_columns_follows_from_the_rate() {
        use Inferred::{Documented, Rate};
        use TimeUnit::{Ms, Ns, S};
        // 20 ms of DiskSim in whole ms, several requests in each.
        assert_eq!(every(1, 0, 21).of_columns(), Rate(Ms));
        assert_eq!(times(&["0", "0", "0", "1", "1", "2", "2", "2", "3"]).of_columns(), Rate(Ms));
        assert_eq!(every(10, 5000, 100).of_columns(), Rate(Ms));
        // Two rows 20 ms apart.
        assert_eq!(times(&["0", "20"]).of_columns(), Rate(Ms));
        // Whole ns, few or many.
        assert_eq!(times(&["0", "1500", "250000"]).of_columns(), Documented(Ns));
        assert_eq!(every(19_430, 938_513_000, 7000).of_columns(), Documented(Ns));
        assert_eq!(every(26_214_000, 0, 5).of_columns(), Documented(Ns));
        assert_eq!(times(&["0.000", "0.221", "0.594"]).of_columns(), Documented(Ms));
        assert_eq!(times(&["0.000000", "12.531000"]).of_columns(), Documented(Ms));
        assert_eq!(times(&["0.000000", "0.000100", "0.000300"]).of_columns(), Rate(S));
        assert_eq!(times(&["0.000000001", "0.5"]).of_columns(), Documented(S));
        // In ms one request in 100 s, in us ten in a second.
        assert_eq!(times(&["0.5", "100000.5", "200000.5"]).of_columns(), Rate(TimeUnit::Us));
        // Exponents: whole numbers are ns, 1.5e-05 has six decimals.
        assert_eq!(times(&["0.000000e+00", "1.500000e+06", "3.000000e+06"]).of_columns(), Documented(Ns));
        assert_eq!(times(&["1.5e-05", "3e-05", "0.0001"]).of_columns(), Rate(S));
        assert_eq!(times(&["1.28166385295514663e17"]).of_columns(), Inferred::Date(TimeUnit::Ticks));
    }

    #[test]
    fn indeterminate_times_keep_the_documented_unit() {
        use Inferred::Documented;
        for all in [&["7"][..], &["7", "7"], &["0", "0", "0"], &["1538323200"]] {
            assert_eq!(times(all).of_columns(), Documented(TimeUnit::Ns));
            assert_eq!(times(all).of_format(TimeUnit::S), Documented(TimeUnit::S));
        }
        assert_eq!(times(&["7.5"]).of_columns(), Documented(TimeUnit::Ms));
        assert_eq!(times(&[]).of_columns(), Documented(TimeUnit::Ns));
    }

    #[test]
    fn dates_identify_their_unit() {
        use Inferred::{Date, Documented};
        use TimeUnit::{Ms, Ns, S, Ticks, Us};
        assert_eq!(every(2150, 128_166_385_295_514_663, 50).of_columns(), Date(Ticks));
        assert_eq!(times(&["128166385295514663"]).of_columns(), Date(Ticks));
        assert_eq!(every(100_000, 1_577_808_144_360_767_000, 50).of_columns(), Documented(Ns));
        assert_eq!(every(100, 1_577_808_144_360_767, 50).of_columns(), Date(Us));
        assert_eq!(every(3, 1_577_808_144_360, 50).of_columns(), Date(Ms));
        assert_eq!(every(1, 1_577_808_144, 50).of_columns(), Date(S));
        assert_eq!(times(&["1455592200.000100", "1455592200.000400"]).of_columns(), Date(S));
        // Magnitude of seconds since 1970, but ns since a start.
        assert_eq!(every(19_430, 950_000_000, 7000).of_columns(), Documented(Ns));
    }

    #[test]
    fn a_documented_unit_is_replaced_only_by_a_plausible_one() {
        use Inferred::{Documented, Doubtful, Rate};
        use TimeUnit::{Ms, Ns, S, Ticks};
        assert_eq!(every(1, 0, 100).of_format(Ticks), Documented(Ticks));
        assert_eq!(times(&["0", "0", "0", "0", "1"]).of_format(Ticks), Rate(Ms));
        assert_eq!(every(26_214_000, 0, 3).of_format(S), Rate(Ns));
        assert_eq!(times(&["0.000001", "0.000003"]).of_format(S), Documented(S));
        // One request in 200 s is possible, and doubtful unless the times are dates.
        assert_eq!(times(&["0", "200"]).of_format(S), Doubtful(S));
        assert_eq!(every(200, 1_577_808_144, 3).of_format(S), Documented(S));
        assert_eq!(every(40_000_000_000, 0, 3).of_format(Ns), Documented(Ns));
        // A thousand requests per ps in ms, and no other unit is better.
        assert_eq!(times(&["0.000000", "0.000000", "0.000000000001"]).of_format(Ms), Doubtful(Ms));
    }
}
