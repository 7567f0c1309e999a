//! Hotness filter: level of a write by the time since its data was last written.
//!
//! A block's time stamp is the arrival of the first write programmed to it. Data never written in simulated time (new or
//! preconditioned), or not within the interval of the last level, is cold.

use crate::numbers::{Ppu, SuperBlock};
use interpulse_engine::{Duration, SimTime};

/// Most levels of hot data.
pub const MOST_LEVELS: usize = 3;

/// Stamp of a block not written in simulated time.
const NEVER: u64 = u64::MAX;

/// Hotness filter of one drive.
#[derive(Clone, Debug)]
pub struct Hotness {
    within: Vec<u64>,
    /// Time stamp of each super block, in ns.
    stamps: Vec<u64>,
    /// Time stamp of each physical unit, in ticks plus one (zero: never); empty where blocks have the stamps.
    of_units: Vec<u32>,
}

impl Hotness {
    /// Filter with one hot level for each of the ascending intervals `within`.
    pub fn new(within: &[Duration], super_blocks: u32) -> Hotness {
        assert!((1..=MOST_LEVELS).contains(&within.len()) && within.is_sorted());
        Hotness {
            within: within.iter().map(|t| t.as_ns()).collect(),
            stamps: vec![NEVER; super_blocks as usize],
            of_units: Vec::new(),
        }
    }

    /// Same filter with a time stamp for each physical unit.
    #[must_use]
    pub fn by_unit(self, units: u64) -> Hotness {
        Hotness { of_units: vec![0; units as usize], ..self }
    }

    /// Resolution of unit stamps: a thousandth of the hottest level's interval.
    fn tick(&self) -> u64 {
        (self.within[0] / 1024).max(1)
    }

    /// Hot levels; level 0 is the hottest, and this number is the level of cold data.
    pub fn levels(&self) -> u32 {
        self.within.len() as u32
    }

    /// Level of a write arriving `now` to data in unit `ppu` of `super_block`.
    #[inline]
    pub fn level(&self, super_block: SuperBlock, ppu: Ppu, now: SimTime) -> u32 {
        let stamp = match self.of_units.get(ppu.index()) {
            None => self.stamps[super_block.index()],
            Some(0) => NEVER,
            Some(&ticks) => u64::from(ticks - 1) * self.tick(),
        };
        if stamp == NEVER {
            return self.levels();
        }
        let interval = now.as_ns().saturating_sub(stamp);
        self.within.iter().position(|&within| interval < within).map_or(self.levels(), |level| level as u32)
    }

    /// Stamps `super_block`, or its next super layer, with the arrival of its first write.
    #[inline]
    pub fn stamp(&mut self, super_block: SuperBlock, at: SimTime) {
        self.stamps[super_block.index()] = at.as_ns();
    }

    /// Stamps unit `ppu` with the arrival of its write.
    #[inline]
    pub fn stamp_unit(&mut self, ppu: Ppu, at: SimTime) {
        if !self.of_units.is_empty() {
            let ticks = at.as_ns() / self.tick();
            self.of_units[ppu.index()] = u32::try_from(ticks + 1).unwrap_or(u32::MAX);
        }
    }

    /// Copies the stamp of a relocated unit.
    #[inline]
    pub fn moved_unit(&mut self, from: Ppu, to: Ppu) {
        if !self.of_units.is_empty() {
            self.of_units[to.index()] = self.of_units[from.index()];
        }
    }

    /// Stamps `to` with the age of `from`, the source of its first relocated unit.
    pub fn inherit(&mut self, to: SuperBlock, from: SuperBlock) {
        self.stamps[to.index()] = self.stamps[from.index()];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_levels_of_the_paper() {
        let minutes = |m: u64| Duration::from_ms(60_000 * m);
        let mut hot = Hotness::new(&[minutes(30), minutes(60), minutes(120)], 2);
        assert_eq!(hot.level(SuperBlock(0), Ppu(0), SimTime::ZERO + minutes(1)), 3, "never written");
        hot.stamp(SuperBlock(0), SimTime::ZERO + minutes(5));
        for (at, level) in [(5, 0), (34, 0), (35, 1), (64, 1), (65, 2), (124, 2), (125, 3), (1000, 3)] {
            assert_eq!(hot.level(SuperBlock(0), Ppu(0), SimTime::ZERO + minutes(at)), level, "minute {at}");
        }
        hot.inherit(SuperBlock(1), SuperBlock(0));
        assert_eq!(hot.level(SuperBlock(1), Ppu(0), SimTime::ZERO + minutes(36)), 1);
        // Units with stamps of their own.
        let mut hot = hot.by_unit(4);
        assert_eq!(hot.level(SuperBlock(1), Ppu(2), SimTime::ZERO + minutes(36)), 3);
        hot.stamp_unit(Ppu(2), SimTime::ZERO + minutes(10));
        hot.moved_unit(Ppu(2), Ppu(3));
        for (at, level) in [(39, 0), (41, 1), (131, 3)] {
            assert_eq!(hot.level(SuperBlock(0), Ppu(3), SimTime::ZERO + minutes(at)), level, "minute {at}");
        }
    }
}
