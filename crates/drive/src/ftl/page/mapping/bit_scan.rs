//! Vectorised scans over the mapping tables and validity bitmaps.

use crate::numbers::Ppu;
use interpulse_engine::vectorised;

vectorised! {
    /// Number of complemented entries that are on flash, and number that are anywhere.
    #[inline]
    pub fn held(entries: &[u32]) -> (u32, u32) => count_held
}

vectorised! {
    /// Number of complemented byte entries that are mapped, and the minimum of `least` and each entry less one.
    #[inline]
    pub fn least(entries: &[[u8; 4]], least: u32) -> (u32, u32) => find_least
}

vectorised! {
    /// Maximum of `behind` and each byte entry plus one.
    #[inline]
    pub fn behind(units: &[[u8; 4]], behind: u32) -> u32 => find_behind
}

vectorised! {
    /// Number of set bits.
    #[inline]
    pub fn ones(words: &[u64]) -> u32 => count_ones
}

#[inline(always)]
fn count_held(entries: &[u32]) -> (u32, u32) {
    // Complemented entries on flash have the highest bit set.
    let on_flash = entries.iter().map(|entry| entry >> 31).sum();
    (on_flash, entries.iter().map(|&entry| u32::from(entry != 0)).sum())
}

#[inline(always)]
fn find_least(entries: &[[u8; 4]], least: u32) -> (u32, u32) {
    entries.iter().map(|entry| u32::from_ne_bytes(*entry)).fold((0, least), |(anywhere, least), entry| {
        (anywhere + u32::from(entry != 0), least.min(entry.wrapping_sub(1)))
    })
}

#[inline(always)]
fn find_behind(units: &[[u8; 4]], behind: u32) -> u32 {
    units.iter().fold(behind, |behind, unit| behind.max(u32::from_ne_bytes(*unit).wrapping_add(1)))
}

#[inline(always)]
fn count_ones(words: &[u64]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}

/// Calls `each` for the units whose bits are set, in order; `first` is the unit of the first bit.
#[inline(always)]
pub fn each_one(words: &[u64], mut first: Ppu, mut each: impl FnMut(Ppu)) {
    for &word in words {
        let mut bits = word;
        while bits != 0 {
            each(first + bits.trailing_zeros());
            bits &= bits - 1;
        }
        first += u64::BITS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_engine::Streams;

    /// Lengths that fill vectors and lengths that do not.
    #[test]
    fn both_compilations_find_the_same() {
        let mut rng = Streams::new(7).stream("passes", 0);
        for len in (0..70).chain([1000, 4096, 4099]) {
            let entries: Vec<u32> = (0..len)
                .map(|_| match rng.below(4) {
                    0 => 0,
                    1 => rng.next_u64() as u32 | 1 << 31,
                    2 => rng.below(5) as u32,
                    _ => u32::MAX - rng.below(5) as u32,
                })
                .collect();
            let bytes: Vec<[u8; 4]> = entries.iter().map(|entry| entry.to_ne_bytes()).collect();
            let words: Vec<u64> = (0..len).map(|_| rng.next_u64() & rng.next_u64()).collect();
            assert_eq!(held(&entries), count_held(&entries));
            assert_eq!(least(&bytes, u32::MAX), find_least(&bytes, u32::MAX));
            assert_eq!(behind(&bytes, 3), find_behind(&bytes, 3));
            assert_eq!(ones(&words), count_ones(&words));
        }
    }

    #[test]
    fn scans_find_the_expected_values() {
        assert_eq!(held(&[0, 5, 1 << 31, u32::MAX, 0]), (2, 3));
        let bytes = [7u32, 0, 9].map(u32::to_ne_bytes);
        assert_eq!(least(&bytes, u32::MAX), (2, 6));
        assert_eq!(least(&bytes, 2), (2, 2));
        assert_eq!(behind(&bytes, 0), 10);
        assert_eq!(behind(&[u32::MAX.to_ne_bytes()], 4), 4, "an anonymous unit wraps to zero");
        assert_eq!(ones(&[0, 1, u64::MAX]), 65);
        let mut found = Vec::new();
        each_one(&[1 << 3 | 1 << 63, 0, 1], Ppu(100), |ppu| found.push(ppu.0));
        assert_eq!(found, [103, 163, 228]);
    }
}
