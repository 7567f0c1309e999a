//! Bisection, the slow solver that cannot fail.

/// Where the increasing function `f` crosses zero in `[low, high]`, to the last bits of `f64`.
///
/// If it does not cross, the nearer end. Bisection rather than something faster because every use has a proof
/// of monotonicity, and none of a bounded curvature.
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
