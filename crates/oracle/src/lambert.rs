//! The Lambert W function.

use crate::domain::{OutOfDomain, require};
use std::f64::consts::E;

/// The principal branch W0: the `w >= -1` with `w e^w = x`, for `x >= -1/e`.
///
/// Halley's iteration (cubic) from the series about the branch point, or from `ln(1 + x)` above it. The
/// relative error is near 1e-15 except within about 1e-8 of -1/e, where the function itself is infinitely
/// steep.
///
/// # Errors
/// [`OutOfDomain`] if `x` is below -1/e or not finite.
pub fn lambert_w0(x: f64) -> Result<f64, OutOfDomain> {
    // -1/e rounded in a caller's arithmetic may fall a few bits short of ours; the square root absorbs that.
    let branch = E * x + 1.0;
    require(branch > -1e-14 && x.is_finite(), "x", x, "finite and at least -1/e")?;
    if branch <= 0.0 {
        return Ok(-1.0);
    }
    let p = (2.0 * branch).sqrt();
    let mut w = if x < 0.0 { -1.0 + p * (1.0 + p * (-1.0 / 3.0 + p * 11.0 / 72.0)) } else { libm::log1p(x) };
    // At the branch point W' is infinite and the series is already exact to the last bits.
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
