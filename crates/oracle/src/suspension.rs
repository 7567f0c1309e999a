//! Suspension with entry and resume times and under a cap: read times, and suspensions of a program.
//!
//! The die is that of [`crate::queueing`]: Poisson reads and programs with read priority. A program of fixed length stops for
//! reads; after `entry` all reads are served until none waits; after `resume` the program continues without repeated work.
//! Loading the program takes no time.
//!
//! All formulas use one of Welch (1964): if the first read of a busy period is delayed by `D` (any mixture of kinds of busy
//! periods), `T = s1 + l1 E[s1^2]/(2(1-r1)) + (2 E[D] + l1 E[D^2]) / (2 (1 + l1 E[D]))`. It remains to count the busy periods
//! that begin on an idle die (`D = 0`), and those that begin in an interval that a read must wait out.

use crate::domain::{OutOfDomain, at_least_one, not_negative, positive, require};
use crate::queueing::Die;

/// Costs of a suspension, in the unit of all times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// From the halt until the die accepts a read.
    pub entry: f64,
    /// From the last read until the program makes progress again.
    pub resume: f64,
}

impl Costs {
    fn check(&self) -> Result<(), OutOfDomain> {
        not_negative("entry", self.entry)?;
        not_negative("resume", self.resume)?;
        Ok(())
    }
}

/// Rate of busy periods, and first two moments of the delay of their first read.
#[derive(Clone, Copy, Debug, Default)]
struct Starts {
    rate: f64,
    first: f64,
    second: f64,
}

impl Starts {
    /// Busy periods at `rate` whose first read is delayed by exactly `delay`.
    fn add(&mut self, rate: f64, delay: f64) {
        self.rate += rate;
        self.first += rate * delay;
        self.second += rate * delay * delay;
    }

    /// Intervals of `length` at `rate`: the first read that arrives in an interval, if any, waits for its end and `entry`. With `c = length + entry` and an arrival at `t`: moments of `c - t` over `l e^(-lt) dt`.
    fn add_interval(&mut self, reads: f64, rate: f64, length: f64, entry: f64) {
        let x = reads * length;
        let none = libm::exp(-x);
        let some = -libm::expm1(-x);
        let first = (some - x * none) / reads;
        let second = (2.0 * some - (2.0 * x + x * x) * none) / (reads * reads);
        let c = length + entry;
        self.rate += rate * some;
        self.first += rate * (c * some - first);
        self.second += rate * (c * c * some - 2.0 * c * first + second);
    }

    /// Welch's mean time of a read.
    fn read_time(&self, die: &Die) -> f64 {
        let free = die.preemptive_read_time();
        if self.rate == 0.0 {
            return free;
        }
        let (first, second) = (self.first / self.rate, self.second / self.rate);
        let l1 = die.reads.rate();
        free + (2.0 * first + l1 * second) / (2.0 * (1.0 + l1 * first))
    }
}

/// Service rate of programs that each need `held` of the time beside reads, and the idle share of the die.
fn served(die: &Die, held: f64) -> (f64, f64) {
    let room = (1.0 - die.reads.load()).max(0.0);
    let rate = die.programs.rate().min(room / held);
    (rate, (room - rate * held).max(0.0))
}

/// The probability that a read arrives within `length`.
fn arrival_probability(reads: f64, length: f64) -> f64 {
    -libm::expm1(-reads * length)
}

/// Mean time of a read if a program stops at any instant and keeps its exact progress (`exact`; with no costs
/// `ideal`). A read during the resume stops the program again at the end of the resume.
///
/// Reads stop a program at the rate `l1 s2` while it pulses, and each resume is interrupted with the probability
/// `1 - e^(-l1 resume)`, so it is suspended `l1 s2 e^(l1 resume)` times. Without a resume time this is
/// [`Die::stop_delay_read_time`].
///
/// # Errors
/// [`OutOfDomain`] unless there are reads and the costs are finite and not negative.
pub fn stop_anywhere_read_time(die: &Die, costs: Costs) -> Result<f64, OutOfDomain> {
    costs.check()?;
    let l1 = positive("rate of reads", die.reads.rate())?;
    let train = die.programs.mean();
    let stops = stop_anywhere_suspends(l1, train, costs.resume)?;
    let (programs, idle) = served(die, train + stops * (costs.entry + costs.resume));
    let mut starts = Starts::default();
    starts.add(l1 * idle, 0.0);
    starts.add(programs * l1 * train, costs.entry);
    starts.add_interval(l1, programs * stops, costs.resume, costs.entry);
    Ok(starts.read_time(die))
}

/// Mean suspensions of a program of length `train` that stops at any instant: `l1 s2 e^(l1 resume)`.
///
/// # Errors
/// [`OutOfDomain`] unless `reads` and `resume` are finite and not negative and `train` finite and above 0.
pub fn stop_anywhere_suspends(reads: f64, train: f64, resume: f64) -> Result<f64, OutOfDomain> {
    let (reads, resume) = (not_negative("rate of reads", reads)?, not_negative("resume", resume)?);
    Ok(reads * positive("train", train)? * libm::exp(reads * resume))
}

/// As [`stop_anywhere_suspends`] if a program is suspended at most `cap` times: `E[min(S, cap)]`, where `S` is a
/// Poisson number (mean `l1 s2`) of stops in pulses, each followed by a geometric number of stops in resumes
/// (interrupted with probability `f = 1 - e^(-l1 resume)`). Without a resume time `S` is Poisson itself. Its
/// distribution is by Panjer's recursion: `P(m) = (L / m) sum_i i (1-f) f^(i-1) P(m-i)`.
///
/// # Errors
/// As [`stop_anywhere_suspends`], and if `l1 s2` is above 700, where the recursion underflows.
pub fn stop_anywhere_suspends_capped(
    reads: f64,
    train: f64,
    resume: f64,
    cap: u32,
) -> Result<f64, OutOfDomain> {
    stop_anywhere_suspends(reads, train, resume)?;
    let (mean, again) = (reads * train, arrival_probability(reads, resume));
    require(mean <= 700.0, "reads in a program", mean, "at most 700")?;
    let mut probability = vec![libm::exp(-mean)];
    let (mut at_most, mut capped) = (0.0, 0.0);
    for m in 0..cap as usize {
        // E[min(S, cap)] is the sum of P(S > m) over m below the cap.
        at_most += probability[m];
        capped += (1.0 - at_most).max(0.0);
        let mut weight = 1.0 - again;
        let mut sum = 0.0;
        for i in 1..=m + 1 {
            sum += i as f64 * weight * probability[m + 1 - i];
            weight *= again;
        }
        probability.push(mean / (m + 1) as f64 * sum);
    }
    Ok(capped)
}

/// Mean time of a read if a program stops at any instant and for free (`ideal`), but at most `cap` times: then it
/// runs to its end, and reads wait.
///
/// The rest `L` after the `cap`-th read during the pulses is not preemptible, so by Cobham `T = s1 + (l1 E[s1^2] + l2 E[L^2]) / (2 (1 - r1))`
/// with `E[L^2] = E[(N-cap)(N-cap-1); N > cap] / l1^2` for the Poisson number `N` of reads in a program. No cap is
/// [`Die::preemptive_read_time`], a cap of 0 read priority.
///
/// # Errors
/// [`OutOfDomain`] unless there are reads.
pub fn ideal_capped_read_time(die: &Die, cap: u32) -> Result<f64, OutOfDomain> {
    let l1 = positive("rate of reads", die.reads.rate())?;
    let mean = l1 * die.programs.mean();
    let (programs, _) = served(die, die.programs.mean());
    // Terms beyond are negligible.
    let last = (mean + 40.0 * mean.sqrt() + 60.0) as u32;
    let beyond = |n: u32| {
        let probability = libm::exp(f64::from(n) * libm::log(mean) - mean - libm::lgamma(f64::from(n) + 1.0));
        f64::from(n - cap) * f64::from(n - cap - 1) * probability
    };
    let rest = (cap.saturating_add(2)..=last.max(cap)).map(beyond).sum::<f64>() / (l1 * l1);
    let room = (1.0 - die.reads.load()).max(0.0);
    Ok(die.preemptive_read_time() + programs * rest / (2.0 * room))
}

/// Results for a program that stops at the end of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopEnd {
    /// Mean suspensions of a program.
    pub suspends: f64,
    /// Mean time of a read.
    pub read_time: f64,
}

/// A program of `loops` equal loops that stops at the end of a loop with a read arrival (`deferred`, `loop-boundary`; without
/// verifies also `inter-phase`), except the last, at most `cap` times. A read during a resume waits for the resume and the
/// next loop.
///
/// Exact: enumerates the loops by the number of suspensions so far and by whether a resume precedes the loop; each is an
/// interval that a read waits out. Without costs and cap this is [`Die::phase_end_read_time`] and
/// [`crate::queueing::suspends_between_pulses`].
///
/// # Errors
/// [`OutOfDomain`] unless there are reads, `loops >= 1`, and the costs are finite and not negative. The length of a
/// program is that of `die.programs`, taken as fixed.
pub fn loop_end(die: &Die, loops: u32, costs: Costs, cap: Option<u32>) -> Result<LoopEnd, OutOfDomain> {
    costs.check()?;
    let l1 = positive("rate of reads", die.reads.rate())?;
    let one = die.programs.mean() / at_least_one("loops", loops)?;
    let cap = cap.map_or(loops, |cap| cap.min(loops)) as usize;
    // Probability of each number of suspensions at the start of a loop, without and with a resume before it.
    let mut at = vec![[0.0; 2]; cap + 1];
    at[0][0] = 1.0;
    let mut suspends = 0.0;
    // (per program, length, entry)
    let mut intervals = Vec::new();
    for begun in 0..loops {
        let left = f64::from(loops - begun);
        let mut next = vec![[0.0; 2]; cap + 1];
        for (so_far, &[plain, resumed]) in at.iter().enumerate() {
            for (probability, before) in [(plain, 0.0), (resumed, costs.resume)] {
                if so_far == cap {
                    intervals.push((probability, before + left * one, 0.0));
                } else if begun + 1 == loops {
                    intervals.push((probability, before + one, 0.0));
                } else {
                    let stops = probability * arrival_probability(l1, before + one);
                    intervals.push((probability, before + one, costs.entry));
                    suspends += stops;
                    next[so_far + 1][1] += stops;
                    next[so_far][0] += probability - stops;
                }
            }
        }
        at = next;
    }
    let (programs, idle) = served(die, die.programs.mean() + suspends * (costs.entry + costs.resume));
    let mut starts = Starts::default();
    starts.add(l1 * idle, 0.0);
    for (per_program, length, entry) in intervals {
        starts.add_interval(l1, programs * per_program, length, entry);
    }
    Ok(LoopEnd { suspends, read_time: starts.read_time(die) })
}
