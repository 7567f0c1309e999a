//! Fast division by a divisor fixed when a simulation is assembled.

/// Divides `u32` numbers by a fixed divisor with one multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divider {
    multiplier: u64,
    divisor: u32,
}

impl Divider {
    /// A divider by `divisor`, which must be at least 1.
    pub fn new(divisor: u32) -> Divider {
        assert!(divisor > 0, "division by zero");
        Divider { multiplier: u64::MAX / u64::from(divisor), divisor }
    }

    /// `n / divisor`.
    #[inline]
    pub fn quotient(&self, n: u32) -> u32 {
        // The multiplier is at most 2^64 / d and too small by at most 1. So (n + 1) times it over 2^64 is at most (n + 1) / d,
        // and less by at most 2^-32, which is less than the 1 / d that n / d lacks at least to that.
        ((u128::from(self.multiplier) * (u128::from(n) + 1)) >> 64) as u32
    }

    /// `(n / divisor, n % divisor)`.
    #[inline]
    pub fn split(&self, n: u32) -> (u32, u32) {
        let q = self.quotient(n);
        (q, n - q * self.divisor)
    }

    /// The divisor.
    #[inline]
    pub fn divisor(&self) -> u32 {
        self.divisor
    }
}

/// Largest divisor of [`split_among`].
pub const MOST_SHARES: u32 = 64;

/// `(2^64 - 1) / d` rounded down, by `d`.
static RECIPROCALS: [u64; MOST_SHARES as usize + 1] = {
    let mut table = [0; MOST_SHARES as usize + 1];
    let mut d = 1;
    while d <= MOST_SHARES as usize {
        table[d] = u64::MAX / d as u64;
        d += 1;
    }
    table
};

/// `(n / shares, n % shares)` with one multiplication, for `n` below 2^52 and at most [`MOST_SHARES`] shares.
#[inline]
pub fn split_among(n: u64, shares: u32) -> (u64, u32) {
    debug_assert!(n < 1 << 52 && shares > 0);
    // As in `Divider::quotient`; the error is at most 2^-12.
    let q = (((u128::from(n) + 1) * u128::from(RECIPROCALS[shares as usize])) >> 64) as u64;
    (q, (n - q * u64::from(shares)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_agree_with_the_machine(n in 0u64..1 << 52, k in 0u64..1 << 45) {
            for d in 1..=MOST_SHARES {
                let by = u64::from(d);
                // Around multiples is where a quotient would be wrong.
                for n in [n, k * by, k * by + by - 1, (1 << 52) - 1] {
                    prop_assert_eq!(split_among(n, d), (n / by, (n % by) as u32));
                }
            }
        }

        #[test]
        fn agrees_with_the_machine(n in any::<u32>(), d in 1u32..) {
            for d in [d, 1 + d % 5000, 1 << (d % 32)] {
                prop_assert_eq!(Divider::new(d).split(n), (n / d, n % d));
            }
        }
    }
}
