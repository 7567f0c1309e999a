//! Overload test: do open flows offer more than the device serves?
//!
//! The backlog of an open flow is sampled every so many arrivals ([`interpulse_host::backlog`]). A device that keeps up
//! has a stationary backlog; one that does not has a backlog that grows by the same share of the arrivals for as long
//! as the run lasts. Both statements need evidence: where neither has it, the window is too short to decide.

use super::batch_means::{mean_error, t_quantile};
use interpulse_host::BacklogSample;

/// Fewest samples for a statement.
const MIN_SAMPLES: usize = 32;
/// Fewest samples in which a backlog grows.
const MIN_GROWING: usize = 8;
/// Probability that chance alone grows a backlog so much, for each of the possible starts of the growth.
const BY_CHANCE: f64 = 1e-7;
/// Probability that a backlog that grows by [`EXCESS`] is taken for a stationary one.
const BY_MISTAKE: f64 = 1e-5;
/// Growth that must be ruled out, as a share of the arrivals; an offered load of 105 % grows by 4.8 %.
const EXCESS: f64 = 0.045;
/// Blocks per lane that the host must write before a slow growth counts: one wave of collections takes about one.
const WAVES: f64 = 2.0;
/// Most collection within a wave, as a multiple of its mean.
const PEAK: f64 = 2.0;

/// Operations of a die that its part of the write cache may hold at once: units of a program on several planes.
const UNITS_PER_DIE: u64 = 64;

/// Outcome for one flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// The backlog grows from this sample on.
    Overloaded {
        /// Number of the sample after which it grows.
        since: usize,
    },
    /// The device keeps up.
    Sustained,
    /// The window is too short.
    Undecided,
}

/// What the judgement of a backlog needs beside its samples.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Operations that the device runs at once.
    pub parallel: u64,
    /// Blocks per lane that the host wrote in the window; `None` without garbage collection.
    pub lane_blocks: Option<f64>,
    /// Share of the busy die time that garbage collection took.
    pub gc_share: f64,
}

/// Change of the backlog per arrival over the samples after one of them, and the standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Mean.
    pub mean: f64,
    /// Standard error.
    pub error: f64,
    /// Number of increments.
    pub steps: usize,
}

impl Growth {
    /// Growth of the least backlogs after sample `since`. Least backlogs leave out the peaks of bursts.
    pub fn after(samples: &[BacklogSample], since: usize) -> Growth {
        let part = &samples[since..];
        let steps: Vec<f64> = part.windows(2).map(|w| w[1].least as f64 - w[0].least as f64).collect();
        let (mean, error) = mean_error(&steps);
        let arrivals = (part[1].arrivals - part[0].arrivals) as f64;
        Growth { mean: mean / arrivals, error: error / arrivals, steps: steps.len() }
    }

    /// Half of the interval that holds the growth with a probability of `1 - 2 p`.
    pub fn within(&self, p: f64) -> f64 {
        self.error * t_quantile(1.0 - p, (self.steps - 1) as f64)
    }
}

/// Judges the backlog of one flow.
pub fn judge(samples: &[BacklogSample], last: Option<BacklogSample>, context: &Context) -> Load {
    let Some(last) = last else { return Load::Sustained };
    if samples.len() < MIN_SAMPLES {
        let few = (last.arrivals / 20).max(4);
        return if last.outstanding <= few { Load::Sustained } else { Load::Undecided };
    }
    if let Some(since) = grows(samples) {
        let share = (samples.len() - 1 - since) as f64 / (samples.len() - 1) as f64;
        let waves = context.lane_blocks.map_or(WAVES, |blocks| blocks * share);
        // Within a wave, collection may take twice its usual time: half of it explains a growth of that share.
        let certain = waves >= WAVES || Growth::after(samples, since).mean > context.gc_share / PEAK;
        return if certain { Load::Overloaded { since } } else { Load::Undecided };
    }
    if returns(samples, context) || is_bounded(samples) { Load::Sustained } else { Load::Undecided }
}

/// Whether the write cache takes up an excess: its use neither returns to a low level nor is bounded. `samples` count
/// units written by the host as arrivals and slots in use as backlog.
pub fn cache_fills(samples: &[BacklogSample], context: &Context) -> bool {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return false };
    let context = &Context { parallel: UNITS_PER_DIE * context.parallel, ..*context };
    let uses = || samples.iter().map(|sample| sample.least);
    let rise = uses().max().unwrap_or(0) - uses().min().unwrap_or(0);
    // What a half of the window adds by an excess is more than the use of the cache varies.
    let visible = EXCESS * (last.arrivals - first.arrivals) as f64 / 4.0;
    let few = samples.len() < MIN_GROWING;
    !(few || rise as f64 <= visible || returns(samples, context) || is_bounded(samples))
}

/// The sample after which the backlog grows most certainly, if it grows by more than chance up to the end.
fn grows(samples: &[BacklogSample]) -> Option<usize> {
    if samples[samples.len() - 1].least <= near(samples) {
        return None;
    }
    let certainty = |&since: &usize| {
        let growth = Growth::after(samples, since);
        growth.mean / growth.within(BY_CHANCE).max(f64::MIN_POSITIVE)
    };
    let starts = 0..samples.len() - MIN_GROWING;
    let best = starts.max_by(|a, b| certainty(a).total_cmp(&certainty(b)))?;
    if certainty(&best) <= 1.0 {
        return None;
    }
    // A backlog that grew at least half as fast before grew all the time.
    let before = (best > 1).then(|| Growth::after(&samples[..=best], 0).mean);
    let always = before.is_none_or(|before| 2.0 * before >= Growth::after(samples, best).mean);
    Some(if always { 0 } else { best })
}

/// Largest backlog that does not differ from the least one of the window: operations in progress vary as a Poisson
/// variable does.
fn near(samples: &[BacklogSample]) -> u64 {
    let least = samples.iter().map(|sample| sample.least).min().unwrap_or(0);
    least + (4.0 * (least as f64).sqrt()) as u64 + 4
}

/// Whether the backlog falls, again and again, to what the device works on at once. A backlog that grows by
/// [`EXCESS`] leaves this level for good.
fn returns(samples: &[BacklogSample], context: &Context) -> bool {
    let near = near(samples);
    let often =
        |part: &[BacklogSample]| 2 * part.iter().filter(|sample| sample.least <= near).count() >= part.len();
    let third = samples.len() / 3;
    let (first, rest) = samples.split_at(third);
    let (second, last) = rest.split_at(third);
    near <= context.parallel.max(16) && often(first) && often(second) && often(last)
}

/// Whether growth by [`EXCESS`] is ruled out, over the window and over its second half, and the last third of the window
/// has backlogs that the first third had too, which a smaller excess in a long window leaves behind.
fn is_bounded(samples: &[BacklogSample]) -> bool {
    let third = samples.len() / 3;
    let first = samples[..third].iter().map(|sample| sample.least).max();
    let last = samples[samples.len() - third..].iter().map(|sample| sample.least).min();
    last <= first
        && [0, samples.len() / 2].into_iter().all(|since| {
            let growth = Growth::after(samples, since);
            growth.mean + growth.within(BY_MISTAKE) < EXCESS
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_engine::{Rng, SimTime, Streams};

    const CONTEXT: Context = Context { parallel: 16, lane_blocks: None, gc_share: 0.0 };

    /// Samples of a backlog that follows `next`, 1000 arrivals apart.
    fn samples(count: u64, mut next: impl FnMut(u64) -> f64) -> Vec<BacklogSample> {
        let sample = |k| {
            let outstanding = next(k).max(0.0) as u64;
            let (at, arrivals) = (SimTime(1_000_000 * (k + 1)), 1_000 * (k + 1));
            BacklogSample { at, arrivals, outstanding, least: outstanding }
        };
        (0..count).map(sample).collect()
    }

    fn judged(samples: &[BacklogSample]) -> Load {
        judge(samples, samples.last().copied(), &CONTEXT)
    }

    /// About a standard normal variate.
    fn normal(rng: &mut Rng) -> f64 {
        (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
    }

    /// Queue of which each sample changes by `drift` of the arrivals and by noise, from `begin` on.
    fn walk(rng: &mut Rng, drift: f64, noise: f64, begin: u64) -> Vec<BacklogSample> {
        let mut level = 0.0f64;
        samples(48, |k| {
            let drift = if k >= begin { drift } else { -0.05 };
            level = (level + 1_000.0 * drift + noise * normal(rng)).max(0.0);
            level
        })
    }

    #[test]
    fn a_backlog_that_falls_again_and_again_is_served_whatever_its_peaks() {
        let mut rng = Streams::new(1).stream("served", 0);
        for noise in [1.0, 10.0, 40.0, 130.0, 400.0] {
            for _ in 0..200 {
                let load = judged(&walk(&mut rng, -0.05, noise, 0));
                assert!(!matches!(load, Load::Overloaded { .. }), "noise {noise}: {load:?}");
                assert!(noise > 100.0 || load == Load::Sustained, "noise {noise}: {load:?}");
            }
        }
    }

    #[test]
    fn a_backlog_that_grows_is_never_served_and_found_where_the_noise_allows() {
        let mut rng = Streams::new(2).stream("overloaded", 0);
        for noise in [1.0, 10.0, 30.0, 130.0, 400.0] {
            for _ in 0..200 {
                let load = judged(&walk(&mut rng, 0.05, noise, 0));
                assert_ne!(load, Load::Sustained, "noise {noise}");
                assert!(noise > 30.0 || matches!(load, Load::Overloaded { .. }), "noise {noise}: {load:?}");
            }
        }
    }

    #[test]
    fn a_small_excess_in_a_long_window_is_not_served() {
        let mut rng = Streams::new(5).stream("small", 0);
        for _ in 0..200 {
            assert_ne!(judged(&walk(&mut rng, 0.015, 10.0, 0)), Load::Sustained);
        }
    }

    #[test]
    fn the_begin_of_an_overload_is_found() {
        let mut rng = Streams::new(3).stream("late", 0);
        assert_eq!(judged(&walk(&mut rng, 0.1, 20.0, 0)), Load::Overloaded { since: 0 });
        for begin in [16, 24, 32] {
            let Load::Overloaded { since } = judged(&walk(&mut rng, 0.1, 3.0, begin)) else {
                panic!("an overload from sample {begin} on is not found")
            };
            assert!((begin as usize).abs_diff(since) <= 3, "begins at {begin}, found at {since}");
        }
    }

    #[test]
    fn a_peak_that_has_passed_is_no_overload() {
        let peak = samples(56, |k| if k < 40 { 100.0 * k as f64 } else { 4_000.0 - 300.0 * (k - 40) as f64 });
        assert_eq!(judged(&peak[..40]), Load::Overloaded { since: 0 });
        assert!(!matches!(judged(&peak), Load::Overloaded { .. }));
    }

    #[test]
    fn slow_growth_within_a_wave_of_collections_decides_nothing() {
        let mut rng = Streams::new(4).stream("wave", 0);
        let grown = walk(&mut rng, 0.1, 3.0, 0);
        let of = |lane_blocks, gc_share| {
            judge(&grown, grown.last().copied(), &Context { lane_blocks, gc_share, ..CONTEXT })
        };
        assert_eq!(of(Some(0.7), 0.3), Load::Undecided);
        assert!(matches!(of(Some(0.7), 0.15), Load::Overloaded { .. }), "more than half of the collection");
        assert!(matches!(of(Some(2.5), 0.3), Load::Overloaded { .. }), "more than a wave");
    }

    #[test]
    fn a_cache_that_fills_hides_an_excess_and_one_that_is_full_does_not() {
        let fills = |of: &[BacklogSample]| cache_fills(of, &CONTEXT);
        assert!(fills(&samples(30, |k| 2_000.0 + 60.0 * k as f64)));
        assert!(fills(&samples(30, |k| if k < 15 { 100.0 } else { 100.0 + 140.0 * (k - 15) as f64 })));
        assert!(!fills(&samples(30, |_| 65_536.0)));
        assert!(!fills(&samples(30, |k| 10.0 * k as f64)), "300 of 30,000 units");
        assert!(!fills(&samples(30, |k| 100.0 + 20.0 * (k % 3) as f64)));
        assert!(!fills(&[]));
    }

    #[test]
    fn few_arrivals_decide_nothing_unless_they_are_served() {
        let few = samples(8, |k| 1_000.0 * k as f64);
        assert_eq!(judged(&few), Load::Undecided);
        assert_eq!(judged(&samples(8, |_| 3.0)), Load::Sustained);
        assert_eq!(judge(&[], None, &CONTEXT), Load::Sustained, "nothing arrived");
    }
}
