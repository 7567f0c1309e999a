//! Keyed permutation of addresses: extents change places, addresses within an extent stay in order.
//!
//! Feistel network on pairs (left, right) with cycle walking, whose round function is SipHash-2-4 (Aumasson and
//! Bernstein, INDOCRYPT'12) with a key of 128 bits.

use super::merge::Merged;
use super::outcome::RewriteError;
use crate::trace::device::DeviceKey;
use interpulse_engine::{Bytes, Op, SECTOR};
use std::hash::Hasher;

/// Luby and Rackoff's construction needs four rounds; small domains need more.
const ROUNDS: u64 = 8;

/// Permutation of addresses.
#[derive(Clone, Debug)]
pub struct Scramble {
    /// Secret; equal secrets give equal permutations of devices of equal name and size.
    pub key: String,
    /// Size of an extent, a multiple of 512 B.
    pub extent: Bytes,
    /// Size of each device, a multiple of 512 B, of which all extents are permuted; default: up to the last address, so
    /// that files with other last addresses have other permutations.
    pub capacity: Option<Bytes>,
}

/// Permutation over the devices of a trace.
pub(super) struct Scrambler {
    extent: u64,
    devices: Vec<Keyed>,
    /// Device, extent and image of the previous request.
    last: (u32, u64, u64),
    crossing: u64,
}

/// Key of SipHash.
#[derive(Clone, Copy)]
struct SipKey {
    low: u64,
    high: u64,
}

/// Permutation of the extents 0..n of a device.
struct Keyed {
    n: u64,
    right: u64,
    left: u64,
    key: SipKey,
}

#[expect(deprecated, reason = "the only SipHash-2-4 of the standard library")]
fn sip(key: SipKey, words: &[u64]) -> u64 {
    let mut hasher = std::hash::SipHasher::new_with_keys(key.low, key.high);
    words.iter().for_each(|word| hasher.write(&word.to_le_bytes()));
    hasher.finish()
}

#[expect(deprecated, reason = "the only SipHash-2-4 of the standard library")]
fn key_of(text: &str) -> SipKey {
    let half = |label: u64| {
        let mut hasher = std::hash::SipHasher::new_with_keys(label, !label);
        hasher.write(text.as_bytes());
        hasher.finish()
    };
    SipKey { low: half(1), high: half(2) }
}

impl Scramble {
    /// Permutations of devices with these names that end at these sectors.
    ///
    /// Errors: a device that ends beyond the capacity.
    pub(super) fn over(&self, names: &[DeviceKey], ends: &[u64]) -> Result<Scrambler, RewriteError> {
        let extent = self.extent.get() / SECTOR.get();
        let capacity = self.capacity.map(|capacity| capacity.get() / SECTOR.get());
        let device = |(name, &end): (&DeviceKey, &u64)| {
            if let Some(capacity) = capacity.filter(|&capacity| capacity < end) {
                let (capacity, end) = (Bytes(capacity * SECTOR.get()), Bytes(end * SECTOR.get()));
                return Err(RewriteError::Refused(format!(
                    "--device-capacity: seen {capacity}; expected at least {end}, where device {} ends",
                    name.name()
                )));
            }
            let n = capacity.unwrap_or(end).div_ceil(extent).max(1);
            let right = n.isqrt().max(1) + u64::from(n.isqrt() * n.isqrt() != n);
            let key = key_of(&format!("{}\n{}", name.name(), self.key));
            Ok(Keyed { n, right, left: n.div_ceil(right), key })
        };
        let devices: Result<_, _> = names.iter().zip(ends).map(device).collect();
        Ok(Scrambler { extent, devices: devices?, last: (u32::MAX, 0, 0), crossing: 0 })
    }
}

impl Scrambler {
    /// New first sector of a request. A request keeps its size, and its place within the extent that it starts in.
    pub fn apply(&mut self, row: &Merged) -> u64 {
        if row.op == Op::Flush {
            return row.sector;
        }
        let (extent, within) = (row.sector / self.extent, row.sector % self.extent);
        self.crossing += u64::from(within + u64::from(row.sectors) > self.extent);
        if (self.last.0, self.last.1) != (row.device, extent) {
            self.last = (row.device, extent, self.devices[row.device as usize].image(extent));
        }
        self.last.2 * self.extent + within
    }

    pub fn note(&self) -> Option<String> {
        (self.crossing > 0).then(|| {
            let (count, extent) = (self.crossing, Bytes(self.extent * SECTOR.get()));
            format!(
                "{count} request(s) reach over the end of their extent of {extent}: they keep their size, but their \
                 tails lie in other extents than requests to the same addresses"
            )
        })
    }
}

impl Keyed {
    fn image(&self, mut value: u64) -> u64 {
        let add = |half: u64, hash: u64, size: u64| {
            let sum = half + ((u128::from(hash) * u128::from(size)) >> 64) as u64;
            if sum >= size { sum - size } else { sum }
        };
        loop {
            let (mut left, mut right) = (value / self.right, value % self.right);
            for round in 0..ROUNDS / 2 {
                left = add(left, sip(self.key, &[2 * round, right]), self.left);
                right = add(right, sip(self.key, &[2 * round + 1, left]), self.right);
            }
            value = left * self.right + right;
            if value < self.n {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appendix A of the paper: key 00..0f, message 00..0e.
    #[test]
    #[expect(deprecated, reason = "the only SipHash-2-4 of the standard library")]
    fn the_round_function_is_that_of_the_paper() {
        let half = |from: u8| u64::from_le_bytes(std::array::from_fn(|i| from + i as u8));
        let mut hasher = std::hash::SipHasher::new_with_keys(half(0), half(8));
        hasher.write(&(0..15).collect::<Vec<u8>>());
        assert_eq!(hasher.finish(), 0xa129_ca61_49be_45e5);
    }

    #[test]
    fn every_size_is_permuted() {
        for n in (1..100).chain([1000, 4096, 65_537]) {
            let scramble = Scramble { key: "secret".into(), extent: Bytes(512), capacity: None };
            let name = DeviceKey { host: "web".into(), number: 1 };
            let scrambler = scramble.over(&[name], &[n]).unwrap();
            let mut seen = vec![false; n as usize];
            for value in 0..n {
                let image = scrambler.devices[0].image(value) as usize;
                assert!(!std::mem::replace(&mut seen[image], true), "{n}: {image} twice");
            }
        }
    }
}
