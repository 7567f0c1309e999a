//! The audit of the FTL at the end of a run, and its part of a diagnosis.

use super::layout::UnitAt;
use super::map::Where;
use super::resident::Ftl;
use super::streams::Stream;
use crate::cache::NO_HOME;
use crate::numbers::{Lane, Lpn, SuperBlock};
use std::fmt::Write;

impl Ftl {
    /// Checks that nothing was lost: valid units = mapped units, block by block, and every map entry is confirmed by the
    /// physical side. `stride` > 1 confirms one entry in so many. Returns the units mapped to flash. Err names what does not
    /// hold.
    pub fn audit(&self, stride: usize) -> Result<u64, String> {
        let (map, layout) = (self.tables.map(), &self.tables.layout);
        let keeps = self.tables.units.keeps_homes();
        let mut mapped = 0u64;
        let mut cached = 0u64;
        for lpn in Lpn::first(map.logical_units()) {
            match map.get(lpn) {
                Where::Flash(ppu) => {
                    mapped += 1;
                    if lpn.index().is_multiple_of(stride) {
                        let UnitAt { super_block: block, offset } = layout.split(ppu);
                        if map.logical(ppu) != lpn || !map.is_valid(block, offset) {
                            return Err(format!(
                                "unit {lpn} is mapped to {ppu}, which holds {} (valid: {})",
                                map.logical(ppu),
                                map.is_valid(block, offset)
                            ));
                        }
                    }
                }
                Where::Cache(slot) => {
                    cached += u64::from(!keeps || self.cache().home(slot) != NO_HOME);
                    if self.cache().lpn(slot) != lpn {
                        return Err(format!("unit {lpn} is mapped to a cache slot that holds another"));
                    }
                }
                Where::Unmapped => {}
            }
        }
        let mut valid = 0u64;
        for block in SuperBlock::first(layout.super_blocks()) {
            let bits: u32 = map.valid_words(block).iter().map(|w| w.count_ones()).sum();
            if bits != map.valid_units(block) {
                return Err(format!(
                    "block {block} counts {} valid units, its bits say {bits}",
                    map.valid_units(block)
                ));
            }
            valid += u64::from(bits);
        }
        // Under imposed write amplification, and where power may be lost with the cache, a cached unit keeps its valid
        // home.
        let expected = if self.imposed.is_some() || keeps { mapped + cached } else { mapped };
        if valid != expected {
            return Err(format!("{valid} units are valid on flash, {expected} are mapped there"));
        }
        Ok(mapped)
    }

    /// Reads checked by the version audit.
    pub fn versions_checked(&self) -> u64 {
        self.tables.units.versions_checked()
    }

    /// Looks every logical unit up and has the version audit check what a read of it would return now.
    pub fn read_everything(&mut self) {
        self.tables.units.read_everything();
    }

    /// Which lanes have no block for host data, for a diagnosis.
    pub fn standing(&self) -> String {
        let lanes = self.tables.layout.lanes;
        let short: Vec<Lane> =
            Lane::first(lanes).filter(|&l| !self.tables.has_place(l, Stream::Host)).collect();
        let mut text = format!("{} of {lanes} lanes have no block for host data", short.len());
        if let Some(&lane) = short.first() {
            let _ = write!(text, ", such as {}", self.gc_standing(lane));
        }
        text
    }
}
