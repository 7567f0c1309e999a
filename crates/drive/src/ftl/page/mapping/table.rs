//! Mapping tables: logical to physical, physical to logical, validity bitmap.
//!
//! A logical-to-physical entry is a `u32`: a physical unit, a slot of the write cache, or unmapped.

use crate::ftl::page::mapping::bit_scan;
use crate::memory::{Table, prefetch};
use crate::numbers::{Lpn, Ppu, Slot, SuperBlock};
use std::fs::File;
use std::io;
use std::ops::Range;

/// Entry of an unmapped logical unit.
pub const UNMAPPED: Ppu = Ppu(u32::MAX);
// Entries are stored complemented, so that zeroed memory is unmapped; `bit_scan` relies on it.
const _: () = assert!(!UNMAPPED.0 == 0);
const CACHED: u32 = 1 << 31;
/// Physical units a map can address.
pub const MAX_UNITS: u64 = CACHED as u64;
/// Entries per run of the audit; runs with any cached unit are checked one entry at a time.
const ENTRIES: usize = 256;

/// Location of the newest version of a logical unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// Never written, or trimmed.
    Unmapped,
    /// In this slot of the write cache.
    Cache(Slot),
    /// In this physical unit.
    Flash(Ppu),
}

/// Mapping tables of a drive.
#[derive(Clone)]
pub struct Map {
    pub(crate) to_physical: Table<u32>,
    /// Logical unit last written to each physical unit (stale where the unit is not valid).
    pub(crate) to_logical: Table<u32>,
    /// One bit per physical unit, `words_per_block` words per super block.
    pub valid: Table<u64>,
    words_per_block: usize,
    /// Valid units of each super block, plus [`Map::NOT_A_CANDIDATE`]: one pass over small numbers finds the emptiest
    /// block.
    pub weight: Vec<u32>,
    units_per_block: u32,
}

/// Ranges of table entries read from a file, updated piece by piece.
pub(crate) struct Seen {
    /// Minimum of the complemented entries less one: the last physical unit. Unmapped entries (zero) wrap to the maximum.
    least: u32,
    mapped: u64,
    /// Last logical unit plus one. Anonymous units of preconditioning wrap to zero.
    behind: u32,
}

impl Seen {
    pub(crate) fn nothing() -> Seen {
        Seen { least: u32::MAX, mapped: 0, behind: 0 }
    }

    /// Scans the bytes of the table with this index in [`Map::tables`]; only entries are checked.
    pub(crate) fn scan(&mut self, table: usize, bytes: &[u8]) {
        let entries = bytes.as_chunks().0;
        match table {
            0 => {
                let (mapped, least) = bit_scan::least(entries, self.least);
                self.mapped += u64::from(mapped);
                self.least = least;
            }
            1 => self.behind = bit_scan::behind(entries, self.behind),
            _ => {}
        }
    }
}

impl Map {
    /// Added to the weight of blocks that may not be collected.
    pub const NOT_A_CANDIDATE: u32 = 1 << 31;
    /// Most units of a super block: 4 GiB in units of 4 KiB, above any part; keeps the scores of victim policies (units
    /// times age) within 64 bits.
    pub const MAX_UNITS_PER_BLOCK: u32 = 1 << 20;

    /// Tables for `logical` units over `super_blocks` blocks of `units_per_block`; everything unmapped.
    pub fn new(logical: u32, super_blocks: u32, units_per_block: u32) -> Map {
        let (units, words) = Map::lengths(super_blocks, units_per_block);
        Map {
            to_physical: Table::new(logical as usize),
            to_logical: Table::new(units),
            valid: Table::new(words),
            words_per_block: words / super_blocks.max(1) as usize,
            weight: vec![Map::NOT_A_CANDIDATE; super_blocks as usize],
            units_per_block,
        }
    }

    /// Tables whose physical-to-logical part is mapped from `file` at byte `at`: it is as large as the other tables
    /// together, and a run reads it block by block.
    pub(crate) fn of_file(
        logical: u32,
        super_blocks: u32,
        units_per_block: u32,
        file: &File,
        at: u64,
    ) -> io::Result<Map> {
        let (units, words) = Map::lengths(super_blocks, units_per_block);
        Ok(Map {
            to_physical: Table::new(logical as usize),
            to_logical: Table::of_file(file, at, units)?,
            valid: Table::new(words),
            words_per_block: words / super_blocks.max(1) as usize,
            weight: vec![Map::NOT_A_CANDIDATE; super_blocks as usize],
            units_per_block,
        })
    }

    /// Makes the physical-to-logical table shareable, as one mapped from a file is.
    pub(crate) fn share(&mut self) {
        self.to_logical.share();
    }

    /// Copy of unmodified tables, sharing memory where possible.
    pub(crate) fn another(&self) -> Map {
        Map {
            to_physical: self.to_physical.clone(),
            to_logical: self.to_logical.another(),
            valid: self.valid.clone(),
            weight: self.weight.clone(),
            ..*self
        }
    }

    /// Physical units and validity words of `super_blocks` blocks.
    fn lengths(super_blocks: u32, units_per_block: u32) -> (usize, usize) {
        let (blocks, units) = (super_blocks as usize, units_per_block as usize);
        (blocks * units, blocks * units.div_ceil(64))
    }

    /// Bytes of each table in a file: map, physical-to-logical table, validity.
    pub(crate) fn table_bytes(logical: u32, super_blocks: u32, units_per_block: u32) -> [u64; 3] {
        let (units, words) = Map::lengths(super_blocks, units_per_block);
        [4 * u64::from(logical), 4 * units as u64, 8 * words as u64]
    }

    pub(crate) fn tables(&self) -> [&[u8]; 3] {
        [self.to_physical.as_bytes(), self.to_logical.as_bytes(), self.valid.as_bytes()]
    }

    /// Tables that [`Map::of_file`] leaves to be read.
    pub(crate) fn tables_to_read(&mut self) -> [Option<&mut [u8]>; 3] {
        [Some(self.to_physical.as_bytes_mut()), None, Some(self.valid.as_bytes_mut())]
    }

    /// Description of the first inconsistency: entries beyond the drive, wrong valid counts, or mapped units that differ
    /// from valid units in number. `seen` has scanned all entries.
    pub(crate) fn contradiction(&self, seen: &Seen) -> Option<String> {
        let (logical, units) = (self.logical_units(), self.to_logical.len() as u32);
        let last = !seen.least.wrapping_add(1);
        if seen.least != u32::MAX && last >= units {
            return Some(format!("a logical unit is said to be in physical unit {last} of {units}"));
        }
        if seen.behind > logical {
            let last = seen.behind - 1;
            return Some(format!("a physical unit is said to hold logical unit {last} of {logical}"));
        }
        let mut valid = 0;
        for block in SuperBlock::first(self.weight.len() as u32) {
            let bits = bit_scan::ones(self.valid_words(block));
            if bits != self.valid_units(block) {
                return Some(format!("block {block} does not hold as many valid units as it counts"));
            }
            valid += u64::from(bits);
        }
        let mapped = seen.mapped;
        (valid != mapped).then(|| format!("{mapped} units are on flash, and {valid} are valid there"))
    }

    /// Logical units of the drive.
    #[inline]
    pub fn logical_units(&self) -> u32 {
        self.to_physical.len() as u32
    }

    /// Location of the newest version of `lpn`.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> Where {
        decode(!self.to_physical[lpn.index()])
    }

    /// Whether the map points to each of the `count` physical units from `ppu` on.
    #[inline]
    pub(crate) fn are_at(&self, ppu: Ppu, count: u32) -> bool {
        let (eights, others) = self.to_logical[ppu.index()..][..count as usize].as_chunks::<8>();
        let is_at = |lpn: u32, ppu: u32| self.to_physical.get(lpn as usize) == Some(&!ppu);
        // Checks eight at a time: mostly all of them match.
        let mut from = ppu.0;
        for eight in eights {
            if !(0..8).fold(true, |all, k| all & is_at(eight[k], from + k as u32)) {
                return false;
            }
            from += 8;
        }
        others.iter().zip(from..).all(|(&lpn, ppu)| is_at(lpn, ppu))
    }

    /// Whether all of the `count` units from `lpn` on are unmapped.
    #[inline]
    pub fn are_nowhere(&self, lpn: Lpn, count: u32) -> bool {
        let entries = &self.to_physical[lpn.index()..][..count as usize];
        entries.iter().fold(0, |any, entry| any | entry) == !UNMAPPED.0
    }

    /// All logical units, in runs of a few hundred.
    pub(crate) fn runs_of_entries(&self) -> impl Iterator<Item = Range<Lpn>> {
        let logical = self.logical_units();
        (0..logical)
            .step_by(ENTRIES)
            .map(move |from| Lpn(from)..Lpn(from.saturating_add(ENTRIES as u32).min(logical)))
    }

    /// Numbers of these logical units on flash and in the cache.
    #[inline]
    pub(crate) fn held(&self, lpns: &Range<Lpn>) -> (u32, u32) {
        let entries = &self.to_physical[lpns.start.index()..lpns.end.index()];
        let (on_flash, anywhere) = bit_scan::held(entries);
        (on_flash, anywhere - on_flash)
    }

    /// Prefetches the entry of `lpn`.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        self.to_physical.prefetch(lpn.index());
    }

    /// Prefetches the physical-to-logical entries of `count` units from `ppu` on.
    #[inline]
    pub(crate) fn prefetch_logical(&self, ppu: Ppu, count: u32) {
        let line = 64 / size_of::<u32>();
        (0..count as usize).step_by(line).for_each(|k| self.to_logical.prefetch(ppu.index() + k));
    }

    /// Prefetches the words that invalidating unit `offset` of `super_block` will change.
    #[inline]
    pub fn prefetch_valid(&self, super_block: SuperBlock, offset: u32) {
        let word = super_block.index() * self.words_per_block + (offset / 64) as usize;
        self.valid.prefetch(word);
        prefetch(self.weight.as_ptr().wrapping_add(super_block.index()));
    }

    /// Points `lpn` to a slot of the write cache.
    #[inline]
    pub fn set_cached(&mut self, lpn: Lpn, slot: Slot) {
        self.to_physical[lpn.index()] = !(CACHED | slot.0);
    }

    /// Unmaps `lpn`.
    #[inline]
    pub fn set_unmapped(&mut self, lpn: Lpn) {
        self.to_physical[lpn.index()] = !UNMAPPED.0;
    }

    /// Points `lpn` to a physical unit without changing validity (synthetic write amplification, restore).
    #[inline]
    pub fn set_physical(&mut self, lpn: Lpn, ppu: Ppu) {
        self.to_physical[lpn.index()] = !ppu.0;
    }

    /// Notes the logical unit being written to `ppu`.
    #[inline]
    pub fn set_logical(&mut self, ppu: Ppu, lpn: Lpn) {
        self.to_logical[ppu.index()] = lpn.0;
    }

    /// Logical unit last written to `ppu`.
    #[inline]
    pub fn logical(&self, ppu: Ppu) -> Lpn {
        Lpn(self.to_logical[ppu.index()])
    }

    /// Maps `lpn` to unit `offset` of `super_block` and marks that unit valid.
    #[inline]
    pub fn commit(&mut self, lpn: Lpn, super_block: SuperBlock, offset: u32) {
        let ppu = Ppu(super_block.0 * self.units_per_block + offset);
        debug_assert_eq!(self.logical(ppu), lpn);
        self.to_physical[lpn.index()] = !ppu.0;
        let (word, bit) = self.bit(super_block, offset);
        self.valid[word] |= bit;
        self.weight[super_block.index()] += 1;
    }

    /// Maps `count` logical units from `lpn` on to valid units from `offset` of `super_block` on, in both directions.
    pub fn commit_run(&mut self, lpn: Lpn, count: u32, super_block: SuperBlock, offset: u32) {
        let first = Ppu(super_block.0 * self.units_per_block + offset);
        let entries = &mut self.to_physical[lpn.index()..][..count as usize];
        entries.iter_mut().zip(first.0..).for_each(|(entry, ppu)| *entry = !ppu);
        let units = &mut self.to_logical[first.index()..][..count as usize];
        units.iter_mut().zip(lpn.0..).for_each(|(unit, lpn)| *unit = lpn);
        self.become_valid(super_block, offset..offset + count);
    }

    /// Maps `count` logical units (whole rows) from `lpn` on: `chunk` consecutive units to each entry of `units` in turn,
    /// which advances. [`Map::note_rows`] sets the reverse entries.
    pub(crate) fn set_rows(&mut self, lpn: Lpn, count: u32, chunk: u32, units: &mut [Ppu]) {
        let entries = &mut self.to_physical[lpn.index()..][..count as usize];
        for row in entries.chunks_exact_mut(chunk as usize * units.len()) {
            if chunk == 1 {
                // One unit each: vectorised.
                row.iter_mut().zip(&mut *units).for_each(|(entry, unit)| {
                    *entry = !unit.0;
                    unit.0 += 1;
                });
                continue;
            }
            for (entries, unit) in row.chunks_exact_mut(chunk as usize).zip(&mut *units) {
                entries.iter_mut().zip(unit.0..).for_each(|(entry, ppu)| *entry = !ppu);
                unit.0 += chunk;
            }
        }
    }

    /// Sets the reverse entries of `offsets` in `super_block`, `chunk` units at a time; the first chunk begins at `lpn`,
    /// each further one `row` later. Marks the units valid.
    pub(crate) fn note_rows(
        &mut self,
        lpn: Lpn,
        row: u32,
        chunk: u32,
        super_block: SuperBlock,
        offsets: Range<u32>,
    ) {
        let first = (super_block.0 * self.units_per_block + offsets.start) as usize;
        let units = &mut self.to_logical[first..][..offsets.len()];
        if chunk == 1 {
            (0..).zip(units).for_each(|(k, unit)| *unit = lpn.0.wrapping_add(row.wrapping_mul(k)));
        } else {
            for (k, units) in (0..).zip(units.chunks_exact_mut(chunk as usize)) {
                units.iter_mut().zip(lpn.0 + row * k..).for_each(|(unit, lpn)| *unit = lpn);
            }
        }
        self.become_valid(super_block, offsets);
    }

    /// Marks the units `offsets` of `super_block` valid, none of which was.
    fn become_valid(&mut self, super_block: SuperBlock, offsets: Range<u32>) {
        let (mut at, end) = (offsets.start, offsets.end);
        while at < end {
            let (word, _) = self.bit(super_block, at);
            let bits = (64 - at % 64).min(end - at);
            self.valid[word] |= (u64::MAX >> (64 - bits)) << (at % 64);
            at += bits;
        }
        self.weight[super_block.index()] += offsets.end - offsets.start;
    }

    /// Marks unit `offset` of `super_block` invalid.
    #[inline]
    pub fn invalidate(&mut self, super_block: SuperBlock, offset: u32) {
        let (word, bit) = self.bit(super_block, offset);
        assert!(self.valid[word] & bit != 0, "unit {offset} of block {super_block} was not valid");
        self.valid[word] &= !bit;
        self.weight[super_block.index()] -= 1;
    }

    /// [`Map::invalidate`] unless the unit is invalid already; returns whether it was valid.
    #[inline]
    pub fn invalidate_if_valid(&mut self, super_block: SuperBlock, offset: u32) -> bool {
        let (word, bit) = self.bit(super_block, offset);
        let word = &mut self.valid[word];
        if *word & bit == 0 {
            return false;
        }
        *word &= !bit;
        self.weight[super_block.index()] -= 1;
        true
    }

    /// Whether unit `offset` of `super_block` is valid.
    #[inline]
    pub fn is_valid(&self, super_block: SuperBlock, offset: u32) -> bool {
        let (word, bit) = self.bit(super_block, offset);
        self.valid[word] & bit != 0
    }

    /// Validity words of a super block.
    #[inline]
    pub fn valid_words(&self, super_block: SuperBlock) -> &[u64] {
        let first = super_block.index() * self.words_per_block;
        &self.valid[first..first + self.words_per_block]
    }

    /// Index range of a super block's validity words.
    pub(crate) fn words_of_block(&self) -> Range<u32> {
        0..self.words_per_block as u32
    }

    /// Mutable validity words of a super block; the caller updates weights.
    #[inline]
    pub fn valid_words_mut(&mut self, super_block: SuperBlock) -> &mut [u64] {
        let first = super_block.index() * self.words_per_block;
        &mut self.valid[first..first + self.words_per_block]
    }

    /// Marks all units of a super block invalid and excludes it from collection.
    pub fn clear_block(&mut self, super_block: SuperBlock) {
        self.valid_words_mut(super_block).fill(0);
        self.weight[super_block.index()] = Map::NOT_A_CANDIDATE;
    }

    /// Marks unit `offset` of `super_block` valid as the flash copy of a unit whose newest version is in the cache.
    pub fn keep(&mut self, super_block: SuperBlock, offset: u32) {
        let (word, bit) = self.bit(super_block, offset);
        self.valid[word] |= bit;
        self.weight[super_block.index()] += 1;
    }

    /// Validity of `count` units (at most 32) from `offset` on, the first one in the lowest bit.
    #[inline]
    pub fn valid_among(&self, super_block: SuperBlock, offset: u32, count: u32) -> u32 {
        let (word, _) = self.bit(super_block, offset);
        let shift = offset % 64;
        let mut bits = self.valid[word] >> shift;
        if shift + count > 64 {
            bits |= self.valid[word + 1] << (64 - shift);
        }
        bits as u32 & (u32::MAX >> (32 - count))
    }

    /// Valid units of a super block.
    #[inline]
    pub fn valid_units(&self, super_block: SuperBlock) -> u32 {
        self.weight[super_block.index()] & !Map::NOT_A_CANDIDATE
    }

    /// Whether a super block may be collected.
    #[inline]
    pub fn is_candidate(&self, super_block: SuperBlock) -> bool {
        self.weight[super_block.index()] & Map::NOT_A_CANDIDATE == 0
    }

    /// Allows or forbids collection of a super block.
    #[inline]
    pub fn set_candidate(&mut self, super_block: SuperBlock, candidate: bool) {
        let weight = &mut self.weight[super_block.index()];
        *weight = if candidate { *weight & !Map::NOT_A_CANDIDATE } else { *weight | Map::NOT_A_CANDIDATE };
    }

    #[inline]
    fn bit(&self, super_block: SuperBlock, offset: u32) -> (usize, u64) {
        (super_block.index() * self.words_per_block + (offset / 64) as usize, 1 << (offset % 64))
    }
}

#[inline]
fn decode(entry: u32) -> Where {
    if entry < CACHED {
        Where::Flash(Ppu(entry))
    } else if entry == UNMAPPED.0 {
        Where::Unmapped
    } else {
        Where::Cache(Slot(entry & !CACHED))
    }
}
