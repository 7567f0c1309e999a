//! Preemptive-repeat: operations that restart an interrupted pulse from its beginning.
//!
//! A pulse of length `P` succeeds if no read arrives during it. With Poisson reads of rate `l` the number of failures is
//! geometric with mean `e^(lP) - 1`, and the mean time in pulses, failed ones included, is `(e^(lP) - 1) / l`, which is unbounded.

use crate::domain::{OutOfDomain, not_negative, positive};

/// Mean interruptions of one pulse until it completes: `e^(read_rate pulse) - 1`.
///
/// # Errors
/// [`OutOfDomain`] unless `read_rate` is finite and not negative and `pulse` finite and above 0.
pub fn interruptions_per_pulse(read_rate: f64, pulse: f64) -> Result<f64, OutOfDomain> {
    Ok(libm::expm1(not_negative("read_rate", read_rate)? * positive("pulse", pulse)?))
}

/// Mean time in one pulse, failed attempts included: `(e^(read_rate pulse) - 1) / read_rate`, in the unit of
/// `pulse`.
///
/// # Errors
/// As [`interruptions_per_pulse`].
pub fn active_time_per_pulse(read_rate: f64, pulse: f64) -> Result<f64, OutOfDomain> {
    let interruptions = interruptions_per_pulse(read_rate, pulse)?;
    Ok(if read_rate * pulse < 1e-300 { pulse } else { interruptions / read_rate })
}

/// Mean time from start to end of an operation of `pulses` equal pulses when every interruption takes
/// `per_interruption` (stop, read and resume) before the pulse starts again.
///
/// # Errors
/// As [`interruptions_per_pulse`], and if `per_interruption` is negative or not finite.
pub fn elapsed_time(
    read_rate: f64,
    pulses: u32,
    pulse: f64,
    per_interruption: f64,
) -> Result<f64, OutOfDomain> {
    not_negative("per_interruption", per_interruption)?;
    let pause = interruptions_per_pulse(read_rate, pulse)? * per_interruption;
    Ok(f64::from(pulses) * (active_time_per_pulse(read_rate, pulse)? + pause))
}

/// Means of an operation with repeated phases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeated {
    /// Interruptions that lost progress.
    pub interruptions: f64,
    /// Time in phases, failed attempts included.
    pub active: f64,
}

/// An operation of `phases`, each of which restarts from its beginning when a read arrives, up to `cap` interruptions. The
/// phases are the loops of `immediate`, or the pulses and verifies of `intra-phase-cancel`, without phases that are never
/// repeated (voltage resets).
///
/// Without a cap the result is the sum over phases of [`interruptions_per_pulse`] and [`active_time_per_pulse`], for any stop
/// and resume times. Each failure loses `1/l - P / (e^(lP) - 1)` on average, independently of earlier ones, so with a cap the
/// distribution of the interruptions suffices; resumes must then take no time.
///
/// # Errors
/// [`OutOfDomain`] unless there is a phase, all are finite and above 0, and `read_rate` is finite and not negative.
pub fn repeated(read_rate: f64, phases: &[f64], cap: Option<u32>) -> Result<Repeated, OutOfDomain> {
    let (mut interruptions, mut active, mut total) = (0.0, 0.0, 0.0);
    for &phase in phases {
        interruptions += interruptions_per_pulse(read_rate, phase)?;
        active += active_time_per_pulse(read_rate, phase)?;
        total += phase;
    }
    positive("sum of the phases", total)?;
    let Some(cap) = cap.map(|cap| cap as usize) else { return Ok(Repeated { interruptions, active }) };
    if read_rate == 0.0 {
        return Ok(Repeated { interruptions: 0.0, active: total });
    }
    // Probability of each number of interruptions so far; at the cap no phase fails.
    let mut so_far = vec![0.0; cap + 1];
    so_far[0] = 1.0;
    let (mut capped, mut active) = (0.0, total);
    for &phase in phases {
        let fails = -libm::expm1(-read_rate * phase);
        let lost = 1.0 / read_rate - phase / libm::expm1(read_rate * phase);
        // A failed attempt adds an interruption and is followed by another attempt.
        for k in 0..cap {
            let failures = so_far[k] * fails;
            so_far[k] -= failures;
            so_far[k + 1] += failures;
            capped += failures;
            active += failures * lost;
        }
    }
    Ok(Repeated { interruptions: capped, active })
}
