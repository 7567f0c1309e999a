//! Batch means: test for steady figures and confidence intervals of percentiles. Law and Kelton, "Simulation
//! Modeling and Analysis", chapter 9: batches of many requests are nearly independent where single requests are not.

use crate::run::batches::Batch;
use interpulse_drive::FtlCounters;
use interpulse_engine::LatencyHistogram;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Fewest batches for a statement.
const MIN_BATCHES: usize = 20;
/// Probability of such a difference between the halves by chance.
const SIGNIFICANCE: f64 = 1e-3;

/// Limits of relative differences of one kind of figure.
#[derive(Clone, Copy)]
struct Limits {
    /// Smaller differences do not matter, however certain.
    matters: f64,
    /// Larger differences are reported even if chance may explain them.
    large: f64,
}

const OF_MEANS: Limits = Limits { matters: 0.02, large: 0.05 };
const OF_TAILS: Limits = Limits { matters: 0.05, large: 0.25 };
/// Probability that an interval contains its percentile.
const CONFIDENCE: f64 = 0.95;
/// Fewest requests beyond a percentile for a meaningful value.
pub const MIN_BEYOND: f64 = 10.0;

/// A figure in both halves of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Halves {
    /// Name in results.
    pub name: &'static str,
    /// First half.
    pub first: f64,
    /// Second half.
    pub second: f64,
    /// Verdict on the difference.
    pub verdict: Verdict,
}

/// Verdict on the difference between the halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Small difference.
    Steady,
    /// Significant and large enough to matter.
    Drifts,
    /// Large, but the window is too short to rule out chance.
    Unsure,
}

/// Figure of a batch as numerator and denominator.
type Ratio = (f64, f64);

/// Ratio estimate over batches with its standard error.
struct Estimate {
    value: f64,
    error: f64,
}

impl Estimate {
    /// Ratio estimator; `None` for a zero denominator.
    fn of(batches: &[Ratio]) -> Option<Estimate> {
        let (k, below): (f64, f64) = (batches.len() as f64, batches.iter().map(|b| b.1).sum());
        if batches.len() < 2 || below <= 0.0 {
            return None;
        }
        let value = batches.iter().map(|b| b.0).sum::<f64>() / below;
        let residuals: Vec<f64> = batches.iter().map(|b| b.0 - value * b.1).collect();
        let squares: f64 = residuals.iter().map(|e| e * e).sum();
        let r = correlation(&residuals, squares);
        // Variance inflation of the mean of an AR(1) process.
        let inflated = (1.0 + r) / (1.0 - r);
        Some(Estimate { value, error: (squares * inflated * k / (k - 1.0)).sqrt() / below })
    }
}

/// Lag-1 correlation of batches, 0 to 0.9: batches shorter than a wave of collections correlate. The estimate from k
/// batches is too low by about (1 + 4 r) / k (Kendall, Biometrika 41, 1954).
fn correlation(residuals: &[f64], squares: f64) -> f64 {
    if squares <= 0.0 {
        return 0.0;
    }
    let r = residuals.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / squares;
    let unbiased = r + (1.0 + 4.0 * r) / residuals.len() as f64;
    if unbiased < 2.0 / (residuals.len() as f64).sqrt() { 0.0 } else { unbiased.min(0.9) }
}

/// Mean of correlated values and its standard error.
pub fn mean_error(values: &[f64]) -> (f64, f64) {
    let ones: Vec<Ratio> = values.iter().map(|&value| (value, 1.0)).collect();
    Estimate::of(&ones).map_or((0.0, f64::INFINITY), |of| (of.value, of.error))
}

/// Change of write amplification over the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// Change over the window as a share of the mean.
    pub change: f64,
    /// 95 % interval.
    pub interval: (f64, f64),
}

/// Slope of write amplification by weighted regression over the batches; `None` for too few batches or no writes.
pub fn waf_slope(batches: &[Batch]) -> Option<Slope> {
    let of = |b: &Batch| (b.done.ftl.programmed() as f64, b.done.ftl.host_units as f64);
    slope(&batches.iter().map(of).collect::<Vec<Ratio>>())
}

fn slope(batches: &[Ratio]) -> Option<Slope> {
    let weight: f64 = batches.iter().map(|b| b.1).sum();
    let value = batches.iter().map(|b| b.0).sum::<f64>() / weight;
    if batches.len() < MIN_BATCHES || weight <= 0.0 || value <= 0.0 {
        return None;
    }
    // Position of the middle of each batch in the window, from -1/2 to 1/2.
    let mut end = 0.0;
    let middles: Vec<f64> = batches
        .iter()
        .map(|b| {
            end += b.1;
            (end - b.1 / 2.0) / weight - 0.5
        })
        .collect();
    let spread: f64 = batches.iter().zip(&middles).map(|(b, x)| b.1 * x * x).sum();
    let rise = batches.iter().zip(&middles).map(|(b, x)| (b.0 - value * b.1) * x).sum::<f64>() / spread;
    let residuals: Vec<f64> =
        batches.iter().zip(&middles).map(|(b, x)| b.0 - (value + rise * x) * b.1).collect();
    let squares: f64 = residuals.iter().map(|e| e * e).sum();
    let r = correlation(&residuals, squares);
    let of_slope: f64 = residuals.iter().zip(&middles).map(|(e, x)| (e * x).powi(2)).sum();
    let freedom = (batches.len() - 2) as f64;
    let inflated = (1.0 + r) / (1.0 - r) * batches.len() as f64 / freedom;
    let error = (of_slope * inflated).sqrt() / spread * t_quantile(0.5 + CONFIDENCE / 2.0, freedom);
    let share = |rise: f64| rise / value;
    Some(Slope { change: share(rise), interval: (share(rise - error), share(rise + error)) })
}

/// Quantile `p` of Student's t with `freedom` degrees of freedom.
pub fn t_quantile(p: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).expect("there are several batches").inverse_cdf(p)
}

fn halves(name: &'static str, batches: &[Ratio], limits: Limits) -> Option<Halves> {
    let (first, second) = batches.split_at(batches.len() / 2);
    let (a, b) = (Estimate::of(first)?, Estimate::of(second)?);
    let difference = (b.value - a.value).abs();
    let chance = t_quantile(1.0 - SIGNIFICANCE / 2.0, (batches.len() - 2) as f64) * a.error.hypot(b.error);
    let verdict = verdict(difference > chance, difference, a.value.max(b.value), limits);
    Some(Halves { name, first: a.value, second: b.value, verdict })
}

/// Verdict on a relative difference that is `certain` if significant; see [`Limits`].
fn verdict(certain: bool, difference: f64, of: f64, limits: Limits) -> Verdict {
    match (certain, difference / of) {
        (true, share) if share > limits.matters => Verdict::Drifts,
        (false, share) if share > limits.large => Verdict::Unsure,
        _ => Verdict::Steady,
    }
}

/// Figures of both halves; empty for too few batches. `closed`: the load waits for completions, so the request rate
/// is a property of the device.
pub fn figures(batches: &[Batch], closed: bool) -> Vec<Halves> {
    if batches.len() < MIN_BATCHES {
        return Vec::new();
    }
    let of = |f: &dyn Fn(&Batch) -> Ratio| batches.iter().map(f).collect::<Vec<Ratio>>();
    let written = |f: &FtlCounters| f.host_units as f64;
    let waf = of(&|b| (b.done.ftl.programmed() as f64, written(&b.done.ftl)));
    let iops = of(&|b| (b.requests as f64, b.length.as_ns() as f64 / 1e9));
    let mut all: Vec<Halves> = halves("waf", &waf, OF_MEANS).into_iter().collect();
    if closed {
        all.extend(halves("iops", &iops, OF_MEANS));
    }
    all.extend(tail("read_p99_us", batches.iter().map(|b| &b.read).collect()));
    all.extend(tail("write_p99_us", batches.iter().map(|b| &b.write).collect()));
    all
}

/// p99 of both halves. They differ if the shares of requests beyond the p99 of the whole window differ.
fn tail(name: &'static str, batches: Vec<&Vec<(u64, u64)>>) -> Option<Halves> {
    let (first, second) = batches.split_at(batches.len() / 2);
    let (a, b) = (Pooled::of(first).quantile(0.99)?, Pooled::of(second).quantile(0.99)?);
    let all = Pooled::of(&batches).quantile(0.99)?;
    let beyond: Vec<Ratio> = batches.iter().map(|batch| beyond(batch, all)).collect();
    if beyond.iter().map(|b| b.0).sum::<f64>() < 2.0 * MIN_BEYOND {
        return None;
    }
    let certain = halves(name, &beyond, Limits { matters: 0.0, ..OF_MEANS })?.verdict == Verdict::Drifts;
    let verdict = verdict(certain, a.abs_diff(b) as f64, a.max(b) as f64, OF_TAILS);
    let us = |ns: u64| ns as f64 / 1e3;
    Some(Halves { name, first: us(a), second: us(b), verdict })
}

/// Requests slower than `limit` and all requests of a batch.
fn beyond(batch: &[(u64, u64)], limit: u64) -> Ratio {
    let slower = batch.iter().filter(|(end, _)| *end > limit).map(|(_, n)| n).sum::<u64>();
    (slower as f64, batch.iter().map(|(_, n)| n).sum::<u64>() as f64)
}

/// Pooled latencies of several batches: upper bucket bounds in order, with counts.
pub struct Pooled(Vec<(u64, u64)>);

impl Pooled {
    /// Pools these batches.
    pub fn of(batches: &[&Vec<(u64, u64)>]) -> Pooled {
        let mut all: Vec<(u64, u64)> = batches.iter().flat_map(|b| b.iter().copied()).collect();
        // Each batch is sorted, which makes this sort fast.
        all.sort();
        Pooled(all)
    }

    /// Upper bound of the bucket that contains quantile `p`.
    pub fn quantile(&self, p: f64) -> Option<u64> {
        let count: u64 = self.0.iter().map(|(_, n)| n).sum();
        let rank = (p * count as f64).ceil() as u64;
        let mut seen = 0;
        self.0.iter().find_map(|&(end, n)| {
            seen += n;
            (seen >= rank.max(1)).then_some(end)
        })
    }
}

/// Confidence intervals of the percentiles `ps` of `all`, in ns, from the variation of the share beyond each between
/// batches; `None` for too few requests or batches.
pub fn intervals<'a>(
    all: &LatencyHistogram,
    ps: &[f64],
    batches: impl Iterator<Item = &'a Vec<(u64, u64)>>,
) -> Vec<Option<(u64, u64)>> {
    let batches: Vec<&Vec<(u64, u64)>> = batches.collect();
    let pooled = Pooled::of(&batches);
    let interval = |&p: &f64| {
        if batches.len() < MIN_BATCHES || (1.0 - p) * (all.count() as f64) < MIN_BEYOND {
            return None;
        }
        let limit = pooled.quantile(p)?;
        let shares: Vec<Ratio> = batches.iter().map(|batch| beyond(batch, limit)).collect();
        let error =
            Estimate::of(&shares)?.error * t_quantile(0.5 + CONFIDENCE / 2.0, shares.len() as f64 - 1.0);
        let at = |p: f64| all.percentile(p.clamp(0.0, 1.0)).map(|d| d.as_ns());
        Some((at(p - error)?, at(p + error)?))
    };
    ps.iter().map(interval).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_engine::{Duration, Streams};

    /// Batches of a request count each, of which the share `slow(k)` is slow in batch k.
    fn batches(slow: impl Fn(usize) -> f64) -> (Vec<Vec<(u64, u64)>>, LatencyHistogram) {
        let mut rng = Streams::new(3).stream("batches", 0);
        let mut all = LatencyHistogram::new();
        let batch = |k| {
            let mut of = LatencyHistogram::new();
            for _ in 0..1000 {
                let slow = rng.unit() < slow(k);
                let d = Duration(if slow { 1_000_000 } else { 100_000 } + (rng.unit() * 50_000.0) as u64);
                of.record(d);
                all.record(d);
            }
            of.buckets().map(|(_, end, n)| (end, n)).collect()
        };
        ((0..30).map(batch).collect(), all)
    }

    #[test]
    fn a_tail_that_grows_differs_and_one_that_stays_does_not() {
        let (steady, _) = batches(|_| 0.012);
        assert_eq!(tail("p99", steady.iter().collect()).unwrap().verdict, Verdict::Steady);
        let (grows, _) = batches(|k| if k < 15 { 0.004 } else { 0.03 });
        assert_eq!(tail("p99", grows.iter().collect()).unwrap().verdict, Verdict::Drifts);
    }

    #[test]
    fn a_ratio_that_drifts_differs_by_more_than_its_noise() {
        let mut rng = Streams::new(5).stream("ratio", 0);
        let mut of = |drift: f64| -> Vec<Ratio> {
            (0..40).map(|k| (100.0 * (1.0 + drift * (k / 20) as f64) + 4.0 * rng.unit(), 50.0)).collect()
        };
        let mut of = |drift| halves("waf", &of(drift), OF_MEANS).unwrap().verdict;
        assert_eq!(of(0.0), Verdict::Steady);
        assert_eq!(of(0.1), Verdict::Drifts);
        assert_eq!(of(0.015), Verdict::Steady, "certain, but nobody's concern");
    }

    /// The 95 % interval holds the true slope as often as it says; fewer than 260 of 300 deviate by more than six sigma.
    #[test]
    fn the_interval_of_a_slope_holds_it_as_often_as_it_says() {
        let mut rng = Streams::new(17).stream("slope", 0);
        for truth in [0.0, 0.05, -0.3] {
            let mut of = |_: usize| {
                let noisy = |k: usize| {
                    let host = 50.0 + 20.0 * rng.unit();
                    let at = (k as f64 + 0.5) / 30.0 - 0.5;
                    ((3.0 * (1.0 + truth * at) + rng.unit() - 0.5) * host, host)
                };
                slope(&(0..30).map(noisy).collect::<Vec<Ratio>>()).unwrap()
            };
            let held = (0..300).map(&mut of).filter(|s| s.interval.0 < truth && truth < s.interval.1).count();
            assert!(held > 260, "{truth}: {held}");
        }
        assert!(slope(&[(3.0, 1.0); 19]).is_none());
        assert!(slope(&[(0.0, 0.0); 30]).is_none());
    }

    /// Waves of ten batches: their halves differ, but by chance, and that is what they say.
    #[test]
    fn a_window_of_few_waves_does_not_pass_for_a_drift() {
        let mut rng = Streams::new(9).stream("waves", 0);
        let (mut drifts, mut unsure) = (0, 0);
        for _ in 0..300 {
            let mut level = 0.0;
            let wave = |_| {
                level = 0.9 * level + rng.unit() - 0.5;
                (100.0 + 10.0 * level, 50.0)
            };
            match halves("waf", &(0..40).map(wave).collect::<Vec<_>>(), OF_MEANS).unwrap().verdict {
                Verdict::Drifts => drifts += 1,
                Verdict::Unsure => unsure += 1,
                Verdict::Steady => {}
            }
        }
        assert!(drifts < 15 && unsure > 60, "{drifts} drifts, {unsure} unsure");
    }

    /// 95 % intervals hold the true percentile about as often as they say; with 200 of them, fewer than 170 would be a
    /// deviation of more than six sigma.
    #[test]
    fn intervals_hold_the_percentile_as_often_as_they_say() {
        let held = (0..200).filter(|&seed| {
            let mut rng = Streams::new(seed).stream("interval", 0);
            let mut all = LatencyHistogram::new();
            let mut batch = || {
                let mut of = LatencyHistogram::new();
                for _ in 0..500 {
                    let d = Duration((-(1.0 - rng.unit()).ln() * 1e6) as u64);
                    of.record(d);
                    all.record(d);
                }
                of.buckets().map(|(_, end, n)| (end, n)).collect::<Vec<_>>()
            };
            let batches: Vec<_> = (0..30).map(|_| batch()).collect();
            let (low, high) = intervals(&all, &[0.99], batches.iter())[0].unwrap();
            let truth = -(0.01f64).ln() * 1e6;
            (low as f64) < truth * 1.002 && truth * 0.998 < high as f64
        });
        assert!(held.count() > 170);
    }

    #[test]
    fn few_requests_give_no_interval() {
        let (few, all) = batches(|_| 0.01);
        let known = intervals(&all, &[0.99, 0.9999], few.iter());
        assert!(known[0].is_some());
        assert!(known[1].is_none(), "three requests lie beyond it");
        assert!(intervals(&all, &[0.99], few.iter().take(19))[0].is_none());
    }
}
