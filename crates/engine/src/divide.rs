//! Division by a constant that is only known when a simulation is assembled.

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
        // floor(2^64 / d) + 1 is exact for all 32-bit dividends when d > 1; d = 1 is handled by wrapping to
        // zero, see `quotient`.
        Divider { multiplier: (u64::MAX / u64::from(divisor)).wrapping_add(1), divisor }
    }

    /// `n / divisor`.
    #[inline]
    pub fn quotient(&self, n: u32) -> u32 {
        if self.multiplier == 0 {
            return n;
        }
        ((u128::from(self.multiplier) * u128::from(n)) >> 64) as u32
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_machine(n in any::<u32>(), d in 1u32..) {
            for d in [d, 1 + d % 5000, 1 << (d % 32)] {
                prop_assert_eq!(Divider::new(d).split(n), (n / d, n % d));
            }
        }
    }
}
