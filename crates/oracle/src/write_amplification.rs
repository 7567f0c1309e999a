//! Write amplification of garbage collection in steady state.
//!
//! Notation: `T` usable physical pages (without free reserve and open block: when a victim is chosen, all valid pages lie in
//! these `T`), `U` logical pages, `rho = U / T` the utilisation, `OP = (T - U) / U` the over-provisioning, `b` pages per block.
//! All functions return physical over host page writes, at least 1. The values are limits of many blocks; a run with `B` blocks
//! deviates by a fraction of order `1 / B`.

use crate::domain::{OutOfDomain, at_least_one, fraction, not_negative, positive, require, share};
use crate::{lambert_w0, numeric};

/// Utilisation `rho = U / T` from over-provisioning `op = (T - U) / U`: `1 / (1 + op)`.
///
/// # Errors
/// [`OutOfDomain`] unless `op` is finite and above 0.
pub fn rho_from_op(op: f64) -> Result<f64, OutOfDomain> {
    Ok(1.0 / (1.0 + positive("op", op)?))
}

/// Over-provisioning `op = (T - U) / U` from utilisation `rho = U / T`: `1 / rho - 1`.
///
/// # Errors
/// [`OutOfDomain`] unless `0 < rho < 1`.
pub fn op_from_rho(rho: f64) -> Result<f64, OutOfDomain> {
    Ok(1.0 / fraction("rho", rho)? - 1.0)
}

/// FIFO (equally LRU) victims under uniform writes.
///
/// Between its write and its collection a page experiences `T / WA` host writes and survives each with
/// probability `1 - 1/U`: the victim's valid share is `u = exp(-(1/rho)/WA)` with `WA = 1/(1-u)`. With
/// `r = 1/rho` this is `WA = r / (r + W0(-r e^-r))`.
/// Source: Xiang and Kurkoski; Desnoyers (SYSTOR 2012).
///
/// # Errors
/// [`OutOfDomain`] unless `0 < rho < 1`.
pub fn fifo_uniform(rho: f64) -> Result<f64, OutOfDomain> {
    let r = 1.0 / fraction("rho", rho)?;
    let w = lambert_w0(-r * libm::exp(-r))?;
    // For a nearly empty drive exp(-r) vanishes, and rounding could result in a ratio below 1.
    Ok((r / (r + w)).max(1.0))
}

/// Greedy victims (fewest valid pages) under uniform writes, exact mean field, blocks of `b` pages.
///
/// A block keeps `j` valid pages for a time proportional to `1/j`. All victims have `m` or `m - 1`
/// valid pages: a fraction `q` of the blocks passes through level `m` too and is collected on reaching `m - 1`,
/// the rest on reaching `m`. Counting pages gives
/// `b - m + q = b rho (H_b - H_m + q/m)`, the left side being the host writes per collection, so
/// `WA = b / (b - m + q)`. Without a solution, blocks are empty before their collection and `WA = 1`.
/// Source: Desnoyers (SYSTOR 2012); Van Houdt (SIGMETRICS 2013), limit of many choices.
///
/// # Errors
/// [`OutOfDomain`] unless `0 < rho < 1` and `b >= 1`.
pub fn greedy_uniform(rho: f64, b: u32) -> Result<f64, OutOfDomain> {
    fraction("rho", rho)?;
    let pages = at_least_one("b", b)?;
    // H_b - H_m, for decreasing m.
    let mut harmonic = 0.0;
    for m in (1..=b).rev() {
        let level = f64::from(m);
        let pages_short = pages * rho * harmonic - (pages - level);
        let slope = pages * rho / level - 1.0;
        // m = b with q = 0 is the trivial solution of a drive that only moves valid blocks.
        if m < b && slope > 0.0 && -pages_short <= slope {
            let q = (-pages_short / slope).clamp(0.0, 1.0);
            return Ok(pages / (pages - level + q));
        }
        harmonic += 1.0 / level;
    }
    Ok(1.0)
}

/// Victims are the best of `d` random blocks; uniform writes, mean field, blocks of `b` pages.
///
/// With `S_j` the share of blocks with at least `j` valid pages, the victim has at least `j` with probability
/// `S_j^d`. Flow through level `j` balances if `c j (S_j - S_{j+1}) = 1 - S_j^d`, `S_{b+1} = 0`, `c = n / (b
/// rho)` and `n` host writes per collection. For a given `c` each `S_j` is the root of a convex increasing
/// function given `S_{j+1}`, falls with `c`, and pages are conserved if `sum S_j = b rho`: one bisection in
/// `c`, always convergent. `WA = b / n = 1 / (rho c)`; `d = 1` gives `1 / (1 - rho)` for every `b`.
/// Source: Van Houdt (SIGMETRICS 2013).
///
/// # Errors
/// [`OutOfDomain`] unless `0 < rho < 1`, `b >= 1` and `d >= 1`.
pub fn d_choices_uniform(rho: f64, b: u32, d: u32) -> Result<f64, OutOfDomain> {
    fraction("rho", rho)?;
    let pages = at_least_one("b", b)?;
    let choices = at_least_one("d", d)?;
    // n <= b bounds c by 1 / rho.
    let c = numeric::increasing(0.0, 1.0 / rho, |c| pages * rho - valid_pages_per_block(c, b, choices));
    Ok((1.0 / (rho * c)).max(1.0))
}

/// `sum_j S_j` of [`d_choices_uniform`] at one value of `c`.
fn valid_pages_per_block(c: f64, b: u32, d: f64) -> f64 {
    let mut above = 0.0;
    let mut sum = 0.0;
    for j in (1..=b).rev() {
        let cj = c * f64::from(j);
        let right = 1.0 + cj * above;
        // Newton from the right end of a convex increasing function decreases monotonically to the root.
        let mut s: f64 = 1.0;
        for _ in 0..100 {
            let lower_power = libm::pow(s, d - 1.0);
            let step = (cj * s + lower_power * s - right) / (cj + d * lower_power);
            s -= step;
            if step <= 1e-16 * s {
                break;
            }
        }
        above = s.max(above);
        sum += above;
    }
    sum
}

/// A class of logical pages that are equally likely to be written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageClass {
    /// Share of the logical pages, above 0; the shares of all classes sum to 1.
    pub space: f64,
    /// Share of the host writes, 0 for read-only data; the shares of all classes sum to 1.
    pub writes: f64,
}

/// Two classes: `hot_space` of the pages receive `hot_writes` of the writes, uniformly within each.
pub fn hot_and_cold(hot_space: f64, hot_writes: f64) -> [PageClass; 2] {
    [
        PageClass { space: hot_space, writes: hot_writes },
        PageClass { space: 1.0 - hot_space, writes: 1.0 - hot_writes },
    ]
}

/// FIFO victims under any popularity without separation of hot and cold.
///
/// Pages of class `i` are written `w_i / n_i` times as often as the average, so on collection a share
/// `u_i = exp(-(w_i/n_i) r / WA)` of them is still valid, and keeping a class alive costs `w_i / (1 - u_i)`:
/// `WA = sum_i w_i / (1 - exp(-(w_i/n_i) r / WA))`, `r = 1/rho`. In `x = r / WA` the equation
/// `sum_i w_i x / (1 - exp(-(w_i/n_i) x)) = r` increases from 1 at `x = 0`, hence one root.
/// Source: Desnoyers (SYSTOR 2012).
///
/// # Errors
/// [`OutOfDomain`] unless `0 < rho < 1` and the shares of `classes` are legal and sum to 1 within 1e-9.
pub fn fifo_classes(rho: f64, classes: &[PageClass]) -> Result<f64, OutOfDomain> {
    let r = 1.0 / fraction("rho", rho)?;
    let (mut space, mut writes) = (0.0, 0.0);
    for class in classes {
        space += positive("space of a class", class.space)?;
        writes += not_negative("writes of a class", class.writes)?;
    }
    require((space - 1.0).abs() < 1e-9, "sum of the space of classes", space, "1")?;
    require((writes - 1.0).abs() < 1e-9, "sum of the writes of classes", writes, "1")?;
    let x = numeric::increasing(0.0, r, |x| {
        let copies = |class: &PageClass| {
            let aged = x * class.writes / class.space;
            if aged < 1e-300 { class.space } else { class.writes * x / -libm::expm1(-aged) }
        };
        classes.iter().map(copies).sum::<f64>() - r
    });
    Ok((r / x).max(1.0))
}

/// Two separate FIFO pools and their split of the spare pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoPools {
    /// Write amplification of both pools together.
    pub write_amplification: f64,
    /// Share of the spare pages `T - U` in the hot pool.
    pub hot_spare: f64,
}

/// Hot and cold data in separate FIFO pools, the hot pool holding `hot_spare` of the spare pages.
///
/// A pool with a share `n` of the data and `s` of the spare has `r = 1 + s (1/rho - 1) / n` and is a uniform
/// FIFO of its own: `WA = sum_i w_i FIFO(1/r_i)`. Infinite if a pool that is written has no spare.
///
/// # Errors
/// [`OutOfDomain`] unless `rho`, `hot_space` and `hot_writes` lie strictly between 0 and 1 and `hot_spare` in
/// \[0, 1\].
pub fn two_pools(rho: f64, hot_space: f64, hot_writes: f64, hot_spare: f64) -> Result<f64, OutOfDomain> {
    let op = op_from_rho(rho)?;
    fraction("hot_space", hot_space)?;
    fraction("hot_writes", hot_writes)?;
    share("hot_spare", hot_spare)?;
    let pool = |spare: f64, space: f64| {
        let rho = 1.0 / (1.0 + spare * op / space);
        if rho < 1.0 { fifo_uniform(rho) } else { Ok(f64::INFINITY) }
    };
    Ok(hot_writes * pool(hot_spare, hot_space)?
        + (1.0 - hot_writes) * pool(1.0 - hot_spare, 1.0 - hot_space)?)
}

/// [`two_pools`] with the optimal split of the spare.
///
/// The cost of each pool is convex in its spare, so a golden-section search finds the only minimum. `hot_spare` is accurate to
/// about 1e-7, the write amplification to all digits.
///
/// # Errors
/// As [`two_pools`].
pub fn two_pools_best(rho: f64, hot_space: f64, hot_writes: f64) -> Result<TwoPools, OutOfDomain> {
    let cost = |spare| two_pools(rho, hot_space, hot_writes, spare);
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-9 {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        if cost(left)? < cost(right)? {
            high = right;
        } else {
            low = left;
        }
    }
    let hot_spare = 0.5 * (low + high);
    Ok(TwoPools { write_amplification: cost(hot_spare)?, hot_spare })
}
