//! Map-free bookkeeping: valid counts only, and sampling of the valid bits that remain.

use crate::ftl::layout::{Layout, UnitAt};
use crate::ftl::page::mapping::bit_scan::ones;
use crate::ftl::page::mapping::state::MappingState;
use crate::numbers::{Lpn, Ppu, SuperBlock};
use interpulse_engine::Rng;

/// Fewest lost units for sampling word by word; below it each one is drawn.
const FEW: u32 = 24;
/// Prefetch distance in units for the content of moved units.
const AHEAD: usize = 32;
/// Binary digits of the word sampling probability.
const DIGITS: u32 = 6;

impl MappingState {
    /// Marks `count` units from `to` on as valid; they are already counted.
    #[inline]
    pub(crate) fn mark_physically(&mut self, to: UnitAt, count: u32) {
        set(self.map_mut().valid_words_mut(to.super_block), to.offset, count);
    }

    /// Sets the reverse entries of `count` units from `to` on, starting with `lpn`.
    pub(crate) fn name_physically(&mut self, layout: &Layout, lpn: Lpn, to: UnitAt, count: u32) {
        let first = layout.unit(to).index();
        self.map_mut().to_logical[first..first + count as usize].fill(lpn.0);
    }

    /// Moves the first `count` of the units `from` to `to` and after it; the others follow later. `from` holds all valid
    /// units of each block in order. `leave` receives the units leaving a block and returns its content, if all units share
    /// it.
    #[inline]
    pub(crate) fn move_physically(
        &mut self,
        layout: &Layout,
        from: &[Ppu],
        count: usize,
        to: UnitAt,
        mut leave: impl FnMut(SuperBlock, u32) -> Option<Lpn>,
    ) {
        let map = self.map_mut();
        let mut target = layout.unit(to).index();
        let mut done = 0;
        while done < count {
            // Most have the same source.
            let UnitAt { super_block, offset } = layout.split(from[done]);
            let first = layout.first_unit(super_block);
            let block = first..first + layout.units_per_block;
            let here = from[done..count].iter().take_while(|&ppu| block.contains(ppu)).count();
            if let Some(lpn) = leave(super_block, here as u32) {
                map.to_logical[target..target + here].fill(lpn.0);
            } else {
                for k in 0..here {
                    if let Some(ahead) = from.get(done + k + AHEAD) {
                        map.to_logical.prefetch(ahead.index());
                    }
                    map.to_logical[target + k] = map.to_logical[from[done + k].index()];
                }
            }
            target += here;
            done += here;
            let behind = from[done - 1] + 1;
            let left = clear(map.valid_words_mut(super_block), offset, behind.0 - first.0);
            debug_assert_eq!(left, here as u32, "all valid units leave block {super_block}");
            map.weight[super_block.index()] -= here as u32;
        }
        set(map.valid_words_mut(to.super_block), to.offset, count as u32);
        map.weight[to.super_block.index()] += count as u32;
    }

    /// Weights of all blocks. Changing one counts a unit as written or lost, whichever it is; validity bits lag behind
    /// until [`MappingState::sample_valid`].
    #[inline]
    pub(crate) fn weights_mut(&mut self) -> &mut [u32] {
        &mut self.map_mut().weight
    }

    /// Validity bits set in `super_block`.
    pub(crate) fn marked(&self, super_block: SuperBlock) -> u32 {
        ones(self.map().valid_words(super_block))
    }

    /// Invalidates as many random units of `super_block` as it has lost. `before` is a buffer for its bits.
    pub(crate) fn sample_valid(
        &mut self,
        super_block: SuperBlock,
        marked: u32,
        rng: &mut Rng,
        before: &mut Vec<u64>,
    ) {
        let valid = self.map().valid_units(super_block);
        let words = self.map_mut().valid_words_mut(super_block);
        sample_valid(words, marked, valid, rng, before);
    }
}

#[inline]
fn set(words: &mut [u64], offset: u32, count: u32) {
    let (mut at, end) = (offset, offset + count);
    while at < end {
        let to = end.min((at / 64 + 1) * 64);
        words[at as usize / 64] |= (u64::MAX >> (64 - (to - at))) << (at % 64);
        at = to;
    }
}

/// Clears the bits from `offset` to before `end`; returns how many were set.
#[inline]
fn clear(words: &mut [u64], offset: u32, end: u32) -> u32 {
    let (mut at, mut were) = (offset, 0);
    while at < end {
        let to = end.min((at / 64 + 1) * 64);
        let bits = (u64::MAX >> (64 - (to - at))) << (at % 64);
        were += (words[at as usize / 64] & bits).count_ones();
        words[at as usize / 64] &= !bits;
        at = to;
    }
    were
}

/// Keeps `valid` of the `marked` set bits, all choices equally likely.
fn sample_valid(words: &mut [u64], marked: u32, valid: u32, rng: &mut Rng, before: &mut Vec<u64>) {
    let mut left = marked;
    if marked - valid >= FEW {
        // Each bit stays with nearly the target probability, then single bits are removed or restored at random: all
        // choices of the target size stay equally likely.
        before.clear();
        before.extend_from_slice(words);
        let share = (2 * (u64::from(valid) << DIGITS) / u64::from(marked)).div_ceil(2);
        words.iter_mut().for_each(|word| *word &= bits(share, rng));
        left = ones(words);
        while left < valid {
            let gone = words.iter().zip(before.iter()).map(|(now, before)| before & !now);
            let (word, bit) = nth(gone, rng.below(u64::from(marked - left)) as u32);
            words[word] |= bit;
            left += 1;
        }
    }
    while left > valid {
        let (word, bit) = nth(words.iter().copied(), rng.below(u64::from(left)) as u32);
        words[word] &= !bit;
        left -= 1;
    }
}

/// 64 bits, each set with probability `share / 2^DIGITS`, digit by digit from the last one on; an undecided bit takes the
/// value of the later digits.
#[inline]
fn bits(share: u64, rng: &mut Rng) -> u64 {
    if share >> DIGITS != 0 {
        return u64::MAX;
    }
    (share.trailing_zeros().min(DIGITS)..DIGITS).fold(0, |later, digit| {
        let random = rng.next_u64();
        if share >> digit & 1 != 0 { later | random } else { later & random }
    })
}

/// Word and position of the `n`-th set bit, counted from zero.
#[inline]
fn nth(words: impl Iterator<Item = u64>, mut n: u32) -> (usize, u64) {
    for (k, mut word) in words.enumerate() {
        let ones = word.count_ones();
        if n < ones {
            (0..n).for_each(|_| word &= word - 1);
            return (k, word & word.wrapping_neg());
        }
        n -= ones;
    }
    unreachable!("there are more")
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_engine::Streams;

    /// Counts how often each bit and each pair of neighbours stays: 256 + 255 comparisons, of which one fails by chance
    /// with probability 1e-6 (6.1 sigma each).
    #[test]
    fn all_choices_are_equally_likely() {
        const BITS: usize = 256;
        let mut rng = Streams::new(5).stream("thin", 0);
        let mut before = Vec::new();
        for (marked, valid) in [(256, 250), (256, 180), (256, 60), (200, 3), (200, 0), (40, 30)] {
            let mut start = [0u64; BITS / 64];
            set(&mut start, 20.min(BITS as u32 - marked), marked);
            let (mut single, mut pairs) = ([0u32; BITS], [0u32; BITS]);
            let runs = 40_000;
            for _ in 0..runs {
                let mut words = start;
                sample_valid(&mut words, marked, valid, &mut rng, &mut before);
                assert_eq!(ones(&words), valid);
                let is = |k: usize| words[k / 64] >> (k % 64) & 1 != 0;
                for k in 0..BITS {
                    single[k] += u32::from(is(k));
                    pairs[k] += u32::from(is(k) && k + 1 < BITS && is(k + 1));
                }
            }
            let (m, v) = (f64::from(marked), f64::from(valid));
            let check = |p: f64, seen: u32, what: &str| {
                let sigma = (p * (1.0 - p) * f64::from(runs)).sqrt();
                let off = (f64::from(seen) - p * f64::from(runs)).abs();
                assert!(off <= 6.1 * sigma + 1.0, "{what}: {marked} to {valid}: off by {off}, sigma {sigma}");
            };
            let marked_at = |k: usize| k < BITS && start[k / 64] >> (k % 64) & 1 != 0;
            for k in 0..BITS {
                check(if marked_at(k) { v / m } else { 0.0 }, single[k], "a bit");
                let both = marked_at(k) && marked_at(k + 1);
                check(if both { v * (v - 1.0).max(0.0) / (m * (m - 1.0)) } else { 0.0 }, pairs[k], "a pair");
            }
        }
    }

    #[test]
    fn bits_are_set_with_the_given_share() {
        let mut rng = Streams::new(5).stream("bits", 0);
        for share in 0..=(1u64 << DIGITS) {
            let n: u32 = (0..10_000).map(|_| bits(share, &mut rng).count_ones()).sum();
            let p = share as f64 / f64::from(1u32 << DIGITS);
            let sigma = (640_000.0 * p * (1.0 - p)).sqrt();
            assert!((f64::from(n) - 640_000.0 * p).abs() <= 6.0 * sigma, "{share}: {n}");
        }
    }
}
