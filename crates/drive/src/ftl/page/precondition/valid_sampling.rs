//! Map-free bookkeeping: valid counts only, and sampling of the valid bits that remain.

use crate::ftl::page::blocks::layout::{Layout, UnitAt};
use crate::ftl::page::mapping::bit_scan::ones;
use crate::ftl::page::mapping::state::MappingState;
use crate::numbers::{Lpn, Ppu, SuperBlock};
use interpulse_engine::Rng;

/// With fewer units than this to lose each of them is drawn; else most are by the word.
const FEW: u32 = 24;
/// What a unit that moves holds is fetched this many units early.
const AHEAD: usize = 32;
/// Binary digits of the probability that words are drawn with.
const DIGITS: u32 = 6;

impl MappingState {
    /// `count` units from `to` on are valid, which have been counted.
    #[inline]
    pub(crate) fn mark_physically(&mut self, to: UnitAt, count: u32) {
        set(self.map_mut().valid_words_mut(to.super_block), to.offset, count);
    }

    /// `count` units from `to` on hold `lpn`.
    pub(crate) fn name_physically(&mut self, layout: &Layout, lpn: Lpn, to: UnitAt, count: u32) {
        let first = layout.unit(to).index();
        self.map_mut().to_logical[first..first + count as usize].fill(lpn.0);
    }

    /// The first `count` of the units `from` move to `to` and after it; the others will follow. Of each block they are, in order,
    /// all units that are valid. `leave` is told how many leave a block, and tells what is in it, if that is the same in all.
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
            debug_assert_eq!(left, here as u32, "all that is valid leaves block {super_block}");
            map.weight[super_block.index()] -= here as u32;
        }
        set(map.valid_words_mut(to.super_block), to.offset, count as u32);
        map.weight[to.super_block.index()] += count as u32;
    }

    /// The valid units of all blocks. One less or more of these counts a unit that is lost, whichever it is, or written; the
    /// validity bits are behind until [`MappingState::thin`].
    #[inline]
    pub(crate) fn weights_mut(&mut self) -> &mut [u32] {
        &mut self.map_mut().weight
    }

    /// How many units of `super_block` its validity bits call valid.
    pub(crate) fn marked(&self, super_block: SuperBlock) -> u32 {
        ones(self.map().valid_words(super_block))
    }

    /// Of the `marked` units of `super_block` that its validity bits call valid as many are drawn as it has lost: those are
    /// invalid. `before` is room for its bits.
    pub(crate) fn thin(
        &mut self,
        super_block: SuperBlock,
        marked: u32,
        rng: &mut Rng,
        before: &mut Vec<u64>,
    ) {
        let valid = self.map().valid_units(super_block);
        let words = self.map_mut().valid_words_mut(super_block);
        thin(words, marked, valid, rng, before);
    }
}

/// Sets `count` bits from `offset` on.
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

/// Leaves `valid` of the `marked` bits that are set, any such choice with the same probability.
fn thin(words: &mut [u64], marked: u32, valid: u32, rng: &mut Rng, before: &mut Vec<u64>) {
    let mut left = marked;
    if marked - valid >= FEW {
        // Every bit stays with the same probability, nearly that which leaves so many: of any number that stay all choices are
        // equally likely, and so they are after some more are taken or given back at random.
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

/// 64 bits, each set with the probability `share / 2^DIGITS`: digit by digit from the last one on, a bit that is not decided
/// by this digit is what the later ones say.
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

/// The word and the place in it of the bit that is set after `n` others.
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

    /// How often each bit stays, and each pair of neighbours, over many thinnings: 256 + 255 comparisons, of which one fails
    /// by chance with probability 1e-6 (6.1 sigma each).
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
                thin(&mut words, marked, valid, &mut rng, &mut before);
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
    fn bits_are_set_with_the_share_asked_for() {
        let mut rng = Streams::new(5).stream("bits", 0);
        for share in 0..=(1u64 << DIGITS) {
            let n: u32 = (0..10_000).map(|_| bits(share, &mut rng).count_ones()).sum();
            let p = share as f64 / f64::from(1u32 << DIGITS);
            let sigma = (640_000.0 * p * (1.0 - p)).sqrt();
            assert!((f64::from(n) - 640_000.0 * p).abs() <= 6.0 * sigma, "{share}: {n}");
        }
    }
}
