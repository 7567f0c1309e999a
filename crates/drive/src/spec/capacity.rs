//! Drive capacity: size from blocks, and blocks from a stated capacity.

use super::cache::proportional;
use super::{DriveSpec, Impossible};
use crate::ftl::page::mapping::table::MAX_UNITS;
use interpulse_engine::Bytes;
use interpulse_flash::parts::MAX_BLOCKS;

/// A drive may exceed the requested capacity by at most one part in this many.
const COARSEST: u64 = 100;

/// Sizes of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// All pages of all blocks, including the bad-block reserve and unused pages, without parity.
    pub raw: Bytes,
    /// Host capacity.
    pub usable: Bytes,
    /// Resulting (physical - logical) / logical, of the pages that can hold data outside the bad-block reserve and
    /// a static SLC cache.
    pub over_provisioning: f64,
}

/// Requested capacity of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Exact host capacity; the rest of the last block on each plane adds to over-provisioning.
    Usable(Bytes),
    /// Capacity of all pages: the nearest that whole blocks make.
    Raw(Bytes),
}

impl DriveSpec {
    /// Sizes of this drive, whose spec must have been checked.
    pub fn capacity(&self) -> Capacity {
        if self.is_divided() {
            return self.capacity_of_namespaces(Bytes(self.raw_bytes(self.geometry.blocks_per_plane)));
        }
        let logical = self.usable_units().expect("the spec has been checked");
        let layout = self.layout().expect("the spec has been checked");
        let physical = layout.units_outside(self.ftl.set_aside(&self.geometry));
        Capacity {
            raw: Bytes(self.raw_bytes(self.geometry.blocks_per_plane)),
            usable: Bytes(u64::from(logical) * self.geometry.unit_bytes),
            over_provisioning: (physical - u64::from(logical)) as f64 / f64::from(logical),
        }
    }

    /// Super blocks of a lane beyond those that the logical capacity fills.
    pub fn spare_blocks_of_lane(&self) -> Result<f64, Impossible> {
        let (layout, logical) = (self.layout()?, f64::from(self.usable_units()?));
        let filled = logical / f64::from(layout.lanes) / f64::from(layout.units_per_block);
        Ok(f64::from(layout.blocks - self.ftl.set_aside(&self.geometry)) - filled)
    }

    /// Size that the write cache has where none is given: in proportion to the flash.
    pub fn proportional_cache(&self) -> Bytes {
        proportional(&self.part, &self.geometry, &self.ftl)
    }

    /// Blocks per plane for the capacity `wanted`, other values unchanged. Fails with the nearest capacities if none is
    /// close.
    pub fn blocks_for(&self, wanted: Wanted) -> Result<u32, String> {
        let (asked, bytes): (u64, &dyn Fn(u32) -> u64) = match wanted {
            Wanted::Usable(Bytes(asked)) => (asked, &|blocks| self.usable_bytes(blocks)),
            Wanted::Raw(Bytes(asked)) => (asked, &|blocks| self.raw_bytes(blocks)),
        };
        let name = |blocks: u32| format!("{} ({blocks} blocks a plane)", Bytes(bytes(blocks)));
        let most = self.most_blocks();
        // Fewest sufficient blocks; one more than the maximum if none are sufficient.
        let (mut too_few, mut enough) = (0, most + 1);
        while enough - too_few > 1 {
            let middle = too_few + (enough - too_few) / 2;
            if bytes(middle) >= asked { enough = middle } else { too_few = middle }
        }
        if enough > most {
            return Err(format!("at most {}; {}", name(most), self.size_limit(most)));
        }
        let coarse = asked / COARSEST;
        let (above, below) = (bytes(enough) - asked, asked - if too_few > 0 { bytes(too_few) } else { 0 });
        let blocks = match wanted {
            Wanted::Raw(_) if below < above && below <= coarse => too_few,
            _ => enough,
        };
        if let Some(least) = self.least_blocks(blocks, most)
            && least > blocks
        {
            return Err(format!(
                "at least {}; less leaves garbage collection no blocks to work with",
                name(least)
            ));
        }
        if blocks == enough && above > coarse {
            let smaller = if too_few > 0 && self.least_blocks(too_few, most) == Some(too_few) {
                format!("{} or ", name(too_few))
            } else {
                String::new()
            };
            return Err(format!("what whole blocks make, to 1 %; the nearest: {smaller}{}", name(enough)));
        }
        Ok(blocks)
    }

    /// Change that allows a drive larger than `most` blocks per plane.
    fn size_limit(&self, most: u32) -> String {
        if most == MAX_BLOCKS {
            return "more needs more channels, chips, dies or planes".into();
        }
        // The map limits the size: only larger units help.
        let unit = Bytes(self.geometry.unit_bytes);
        let than = if unit == self.part.page_size {
            "part.page-size and ftl.mapping-unit"
        } else {
            "ftl.mapping-unit"
        };
        format!("the map has {MAX_UNITS} units of {unit}: more needs a larger {than}")
    }

    /// Fewest blocks per plane, from `blocks` on, that make a drive; `None` if their number does not decide it.
    fn least_blocks(&self, blocks: u32, most: u32) -> Option<u32> {
        (blocks..=most.min(blocks.saturating_add(4096))).find(|&blocks| {
            let mut other = self.clone();
            other.set_blocks(blocks);
            other.ftl.capacity = None;
            other.logical_units().is_ok()
        })
    }

    fn set_blocks(&mut self, blocks: u32) {
        self.part.blocks_per_plane = blocks;
        self.geometry.blocks_per_plane = blocks;
    }

    fn planes(&self) -> u64 {
        let g = &self.geometry;
        [g.chips_per_channel, g.dies_per_chip, g.planes].iter().map(|&n| u64::from(n)).product::<u64>()
            * u64::from(g.channels)
    }

    /// Most blocks per plane that a part may have and the map can address.
    fn most_blocks(&self) -> u32 {
        let per_block = self.planes() * u64::from(self.geometry.units_per_block());
        u64::from(MAX_BLOCKS).min((MAX_UNITS - 1) / per_block) as u32
    }

    fn raw_bytes(&self, blocks: u32) -> u64 {
        let block = u64::from(self.part.pages_per_block) * self.part.page_size.get();
        self.planes() * u64::from(blocks) * block
    }

    /// Host capacity with `blocks` per plane and the requested over-provisioning.
    fn usable_bytes(&self, blocks: u32) -> u64 {
        let other = self.ftl.reserved(blocks).saturating_add(self.ftl.set_aside(&self.geometry));
        let data = u64::from(blocks.saturating_sub(other));
        let units = self.planes() * data * u64::from(self.geometry.units_per_block());
        if !self.ftl.is_page_mapped() {
            let mut other = self.clone();
            other.set_blocks(blocks);
            return other.usable_units().map_or(0, |units| u64::from(units) * self.geometry.unit_bytes);
        }
        self.ftl.logical(units) * self.geometry.unit_bytes
    }
}
