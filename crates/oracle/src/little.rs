//! Conservation laws of a steady state: Little's law and erase rate.

use crate::domain::{OutOfDomain, at_least_one, not_negative, positive, require};

/// Throughput of a closed loop by Little's law: `queue_depth / latency`, per unit of `latency`.
///
/// # Errors
/// [`OutOfDomain`] unless `queue_depth` is not negative and `mean_latency` above 0, both finite.
pub fn throughput(queue_depth: f64, mean_latency: f64) -> Result<f64, OutOfDomain> {
    Ok(not_negative("queue_depth", queue_depth)? / positive("mean_latency", mean_latency)?)
}

/// Mean number in the system by Little's law: `throughput * latency`.
///
/// # Errors
/// [`OutOfDomain`] unless both are finite and not negative.
pub fn queue_depth(throughput: f64, mean_latency: f64) -> Result<f64, OutOfDomain> {
    Ok(not_negative("throughput", throughput)? * not_negative("mean_latency", mean_latency)?)
}

/// Block erases per unit of time: `host_page_rate * write_amplification / pages_per_block`.
///
/// # Errors
/// [`OutOfDomain`] unless the rate is finite and not negative, `write_amplification >= 1` and
/// `pages_per_block >= 1`.
pub fn erase_rate(
    host_page_rate: f64,
    write_amplification: f64,
    pages_per_block: u32,
) -> Result<f64, OutOfDomain> {
    let wa = write_amplification;
    require(wa >= 1.0 && wa.is_finite(), "write_amplification", wa, "finite and at least 1")?;
    Ok(not_negative("host_page_rate", host_page_rate)? * wa
        / at_least_one("pages_per_block", pages_per_block)?)
}
