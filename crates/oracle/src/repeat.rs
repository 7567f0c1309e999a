//! Operations that restart an interrupted pulse from its beginning: preemptive-repeat.
//!
//! A pulse of length `P` succeeds if no read arrives during it. With Poisson reads of rate `l` the number of
//! failures is geometric with mean `e^(lP) - 1`, and the time spent in pulses, failed ones included, has the
//! mean `(e^(lP) - 1) / l`. Nothing bounds it: forward progress is exponentially rare in `lP`.

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
