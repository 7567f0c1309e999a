//! Pseudo-random permutation of 0..n for any n.
//!
//! Feistel network on pairs (left, right) with left < a, right < b and a b >= n, where a and b are close to the root
//! of n. A round adds a hash of one half to the other half, modulo the size of that half, so each round is a
//! bijection. Results of n or above repeat the network (cycle walking), which is rare because a b exceeds n by less
//! than the root.

use interpulse_engine::random::mix;

const ROUNDS: usize = 4;

pub(crate) struct Permutation {
    n: u64,
    left_size: u64,
    right_size: u64,
    keys: [u64; ROUNDS],
}

impl Permutation {
    pub(crate) fn new(n: u64, key: u64) -> Permutation {
        assert!(n > 0, "nothing to permute");
        let right_size = n.isqrt() + u64::from(!is_square(n));
        let left_size = n.div_ceil(right_size);
        let mut keys = [0; ROUNDS];
        for (i, k) in keys.iter_mut().enumerate() {
            *k = mix(key.wrapping_add((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        }
        Permutation { n, left_size, right_size, keys }
    }

    /// Image of `value` (below n).
    pub(crate) fn apply(&self, mut value: u64) -> u64 {
        debug_assert!(value < self.n);
        loop {
            let (mut left, mut right) = (value / self.right_size, value % self.right_size);
            for pair in self.keys.chunks_exact(2) {
                left = add(left, mix(right ^ pair[0]), self.left_size);
                right = add(right, mix(left ^ pair[1]), self.right_size);
            }
            value = left * self.right_size + right;
            if value < self.n {
                return value;
            }
        }
    }
}

fn add(half: u64, hash: u64, size: u64) -> u64 {
    let sum = half + ((u128::from(hash) * u128::from(size)) >> 64) as u64;
    if sum >= size { sum - size } else { sum }
}

fn is_square(n: u64) -> bool {
    n.isqrt() * n.isqrt() == n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_permuted() {
        for n in (1..200).chain([1000, 4096, 65_537]) {
            let permutation = Permutation::new(n, 7 * n);
            let mut seen = vec![false; n as usize];
            for value in 0..n {
                let image = permutation.apply(value) as usize;
                assert!(!std::mem::replace(&mut seen[image], true), "{n}: {image} twice");
            }
        }
    }

    #[test]
    fn neighbours_are_scattered_and_keys_differ() {
        let n = 1 << 20;
        let (a, b) = (Permutation::new(n, 1), Permutation::new(n, 2));
        let close = (0..1000).filter(|&v| a.apply(v).abs_diff(a.apply(v + 1)) < n / 100).count();
        // Expected 2 % of 1000 pairs, sigma 4.4.
        assert!(close < 47, "{close} neighbouring values stay close");
        assert!((0..1000).filter(|&v| a.apply(v) == b.apply(v)).count() < 5);
    }
}
