//! Numerical tools: the Lambert W function and bisection.

use crate::domain::{OutOfDomain, require};
use std::f64::consts::E;

/// The principal branch W0: the `w >= -1` with `w e^w = x`, for `x >= -1/e`.
///
/// Halley's iteration from the series about the branch point, or from `ln(1 + x)` above it. The relative error is near 1e-15
/// except within about 1e-8 of -1/e, where the slope diverges.
///
/// # Errors
/// [`OutOfDomain`] if `x` is below -1/e or not finite.
pub fn lambert_w0(x: f64) -> Result<f64, OutOfDomain> {
    // Tolerates rounding of -1/e in the arithmetic of the caller.
    let branch = E * x + 1.0;
    require(branch > -1e-14 && x.is_finite(), "x", x, "finite and at least -1/e")?;
    if branch <= 0.0 {
        return Ok(-1.0);
    }
    let p = (2.0 * branch).sqrt();
    let mut w = if x < 0.0 { -1.0 + p * (1.0 + p * (-1.0 / 3.0 + p * 11.0 / 72.0)) } else { libm::log1p(x) };
    // Near the branch point the series is exact to the last bits.
    if p < 1e-4 {
        return Ok(w);
    }
    for _ in 0..50 {
        let e = libm::exp(w);
        let f = w * e - x;
        let step = f / (e * (w + 1.0) - (w + 2.0) * f / (2.0 * w + 2.0));
        w -= step;
        if step.abs() <= 1e-16 * w.abs() {
            break;
        }
    }
    Ok(w)
}

/// The zero of the increasing function `f` in `[low, high]` by bisection, to the last bits of `f64`; without a zero, the
/// nearer end. Every use has a proof of monotonicity, but none of bounded curvature.
pub(crate) fn increasing(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high || high - low <= 1e-15 * high.abs() {
            return middle;
        }
        if f(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
}
