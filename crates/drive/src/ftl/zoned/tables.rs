//! Initial state of a zoned drive, and its format in snapshots: numbers of 32 bits in little endian.

use super::geometry::ZoneGeometry;
use crate::ftl::block_pool::NO_BLOCK;
use crate::ftl::layout::Layout;
use crate::numbers::{Lane, SuperBlock};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A zone between runs that is neither empty nor full of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartialZone {
    pub(super) zone: u32,
    /// Programs.
    pub(super) issued: u32,
    /// It takes no more writes.
    pub(super) is_finished: bool,
}

/// State of a zoned drive between runs. A snapshot has empty and full zones; the other ones are in its supplement.
#[derive(Clone)]
pub struct ZoneTables {
    /// Address layout.
    pub layout: Layout,
    /// Zones.
    pub geometry: ZoneGeometry,
    /// P/E cycles of each super block.
    pub cycles: Vec<u32>,
    /// Erased super blocks of each lane, oldest first.
    pub(super) free: Vec<VecDeque<SuperBlock>>,
    /// Units written of each zone.
    pub(super) written: Vec<u32>,
    /// Super blocks of each zone.
    pub(super) blocks: Vec<Vec<SuperBlock>>,
    /// Zones that are neither empty nor full of programs.
    pub(super) partial: Vec<PartialZone>,
}

impl ZoneTables {
    /// Erased drive.
    pub fn new(layout: Layout, geometry: ZoneGeometry) -> ZoneTables {
        let zones = geometry.zones as usize;
        ZoneTables {
            cycles: vec![0; layout.super_blocks() as usize],
            free: Lane::first(layout.lanes).map(|lane| layout.blocks_of(lane).collect()).collect(),
            written: vec![0; zones],
            blocks: vec![vec![NO_BLOCK; geometry.blocks()]; zones],
            partial: Vec::new(),
            layout,
            geometry,
        }
    }

    /// Fills the first `zones` zones.
    pub fn fill(&mut self, zones: u32) {
        for zone in 0..zones {
            for (k, block) in (0..).zip(&mut self.blocks[zone as usize]) {
                let lane = self.geometry.lane(zone, k % self.geometry.width);
                *block = self.free[lane.index()].pop_front().expect("the blocks of all zones fit a lane");
            }
            self.written[zone as usize] = self.geometry.units;
        }
    }

    /// Program operations done in each super block.
    pub fn programs_done(&self) -> Vec<u32> {
        let mut done = vec![0; self.layout.super_blocks() as usize];
        let used = self.blocks.iter().flatten().filter(|&&block| block != NO_BLOCK);
        used.for_each(|block| done[block.index()] = self.layout.programs_per_block);
        for of in &self.partial {
            let blocks = &self.blocks[of.zone as usize];
            blocks.iter().filter(|&&block| block != NO_BLOCK).for_each(|block| done[block.index()] = 0);
            for place in (0..of.issued).map(|program| self.geometry.place(program)) {
                done[blocks[place.block].index()] = place.program + 1;
            }
        }
        done
    }

    /// Numbers of a lane: its free super blocks, padded to all of them, after their count.
    fn numbers_of_lane(layout: &Layout) -> usize {
        layout.blocks as usize + 1
    }

    /// Bytes of the state of a drive of `layout` and `geometry` in a file.
    pub fn file_bytes(layout: &Layout, geometry: &ZoneGeometry) -> u64 {
        let zones = geometry.zones as usize * (1 + geometry.blocks());
        let lanes = layout.lanes as usize * ZoneTables::numbers_of_lane(layout);
        4 * (layout.super_blocks() as usize + zones + lanes) as u64
    }

    /// The state as bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(ZoneTables::file_bytes(&self.layout, &self.geometry) as usize);
        let mut put = |n: u32| bytes.extend(n.to_le_bytes());
        self.cycles.iter().for_each(|&c| put(c));
        self.written.iter().for_each(|&w| put(w));
        self.blocks.iter().flatten().for_each(|block| put(block.0));
        for free in &self.free {
            put(free.len() as u32);
            free.iter().for_each(|block| put(block.0));
            (free.len()..self.layout.blocks as usize).for_each(|_| put(NO_BLOCK.0));
        }
        bytes
    }

    /// The state in `file` from byte `at` on, of [`ZoneTables::file_bytes`] bytes, which `seen` receives, and the first
    /// inconsistency.
    pub fn of_file<E: From<io::Error>>(
        layout: Layout,
        geometry: ZoneGeometry,
        file: &File,
        at: u64,
        seen: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(ZoneTables, Option<String>), E> {
        let mut bytes = vec![0; ZoneTables::file_bytes(&layout, &geometry) as usize];
        file.read_exact_at(&mut bytes, at)?;
        seen(&bytes)?;
        let numbers: Vec<u32> = bytes.as_chunks().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
        let mut tables = ZoneTables::new(layout, geometry);
        let (cycles, rest) = numbers.split_at(tables.cycles.len());
        let (written, rest) = rest.split_at(tables.written.len());
        let (blocks, lanes) = rest.split_at(tables.written.len() * tables.geometry.blocks());
        tables.cycles.copy_from_slice(cycles);
        tables.written.copy_from_slice(written);
        for (of, numbers) in tables.blocks.iter_mut().zip(blocks.chunks(tables.geometry.blocks())) {
            *of = numbers.iter().copied().map(SuperBlock).collect();
        }
        for (free, numbers) in
            tables.free.iter_mut().zip(lanes.chunks(ZoneTables::numbers_of_lane(&tables.layout)))
        {
            let count = (numbers[0] as usize).min(numbers.len() - 1);
            *free = numbers[1..=count].iter().copied().map(SuperBlock).collect();
        }
        let contradiction = tables.contradiction();
        Ok((tables, contradiction))
    }

    /// First inconsistency of a state that was read.
    fn contradiction(&self) -> Option<String> {
        let units = self.geometry.units;
        if let Some(zone) = self.written.iter().position(|&written| written != 0 && written != units) {
            return Some(format!("zone {zone} has {} of {units} units", self.written[zone]));
        }
        let mut seen = vec![false; self.cycles.len()];
        let mut once = |block: SuperBlock| {
            let fresh = seen.get_mut(block.index()).is_some_and(|seen| !std::mem::replace(seen, true));
            (!fresh).then(|| format!("super block {block} is not one of the drive or is in use twice"))
        };
        for (lane, free) in Lane::first(self.layout.lanes).zip(&self.free) {
            if let Some(&block) = free.iter().find(|&&block| !self.is_on(block, lane)) {
                return Some(format!("super block {block} is not on lane {lane}"));
            }
        }
        for (zone, blocks) in (0..).zip(&self.blocks) {
            let full = self.written[zone as usize] == units;
            for (k, &block) in (0..).zip(blocks) {
                let lane = self.geometry.lane(zone, k % self.geometry.width);
                if full != (block != NO_BLOCK) || (full && !self.is_on(block, lane)) {
                    return Some(format!("zone {zone} has super block {block} on lane {lane}"));
                }
            }
        }
        let used = self.blocks.iter().flatten().filter(|&&block| block != NO_BLOCK);
        if let Some(why) = self.free.iter().flatten().chain(used).find_map(|&block| once(block)) {
            return Some(why);
        }
        let missing = seen.iter().position(|seen| !seen);
        missing.map(|block| format!("super block {block} is neither free nor in a zone"))
    }

    fn is_on(&self, block: SuperBlock, lane: Lane) -> bool {
        block.0 < self.layout.super_blocks() && self.layout.lane_of(block).0 == lane
    }
}
