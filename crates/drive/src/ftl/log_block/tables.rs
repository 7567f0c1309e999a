//! Initial state of a drive with log blocks, and its format in snapshots: numbers of 32 bits in little endian.

use super::geometry::{LogBlockGeometry, LogicalBlock};
use super::kept_logs::KeptLogs;
use crate::ftl::block_pool::NO_BLOCK;
use crate::ftl::layout::Layout;
use crate::numbers::{Lane, Lpn, SuperBlock};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// State of a drive with log blocks between runs. In a snapshot the first units are in their data blocks, and no log block is open;
/// what a run has left is in its supplement.
#[derive(Clone)]
pub struct LogBlockTables {
    /// Address layout of the drive: a super block of it may be a sub-block of a data block.
    pub layout: Layout,
    /// Address layout of data and log blocks; all numbers of super blocks below are its own.
    pub(super) whole: Layout,
    /// Logical blocks.
    pub geometry: LogBlockGeometry,
    /// P/E cycles of each super block of the drive's layout.
    pub cycles: Vec<u32>,
    /// Erased super blocks of each lane, oldest first.
    pub(super) free: Vec<VecDeque<SuperBlock>>,
    /// Units with data: those before this one.
    pub(super) filled: u32,
    /// Data block of each logical block.
    pub(super) data: Vec<SuperBlock>,
    /// What a run has left.
    pub(super) kept: Option<Box<KeptLogs>>,
}

impl LogBlockTables {
    /// Erased drive.
    pub fn new(layout: Layout, geometry: LogBlockGeometry) -> LogBlockTables {
        let whole = layout.joined(geometry.sub_blocks);
        LogBlockTables {
            cycles: vec![0; layout.super_blocks() as usize],
            free: Lane::first(layout.lanes).map(|lane| whole.blocks_of(lane).collect()).collect(),
            filled: 0,
            data: vec![NO_BLOCK; geometry.blocks as usize],
            kept: None,
            layout,
            whole,
            geometry,
        }
    }

    /// Puts the first `units` of an erased drive into their data blocks.
    pub fn fill(&mut self, units: u32) {
        self.filled = units;
        for block in LogicalBlock::first(self.geometry.blocks) {
            if self.programs_of(block) > 0 {
                let free = &mut self.free[self.geometry.lane(block).index()];
                self.data[block.index()] = free.pop_front().expect("the data blocks of a lane fit it");
            }
        }
    }

    /// Program operations done in the data block of a logical block.
    fn programs_of(&self, block: LogicalBlock) -> u32 {
        self.geometry.programs_before(block, Lpn(self.filled))
    }

    /// Program operations done in each super block of the drive's layout.
    pub fn programs_done(&self) -> Vec<u32> {
        if let Some(kept) = &self.kept {
            return kept.programs_done.clone();
        }
        let mut done = vec![0; self.layout.super_blocks() as usize];
        for block in LogicalBlock::first(self.geometry.blocks) {
            if self.data[block.index()] != NO_BLOCK {
                let first = self.data[block.index()].index() * self.geometry.sub_blocks as usize;
                let of_block = &mut done[first..first + self.geometry.sub_blocks as usize];
                let mut left = self.programs_of(block);
                for of in of_block {
                    *of = left.min(self.layout.programs_per_block);
                    left -= *of;
                }
            }
        }
        done
    }

    /// Bytes of the state of a drive of `layout` and `geometry` in a file: cycles and free lists of all super blocks, the length
    /// of each free list, the data blocks, the number of units.
    pub fn file_bytes(layout: &Layout, geometry: &LogBlockGeometry) -> u64 {
        let lanes = u64::from(layout.lanes) * (1 + u64::from(layout.blocks / geometry.sub_blocks));
        4 * (u64::from(layout.super_blocks()) + lanes + u64::from(geometry.blocks) + 1)
    }

    /// The state as bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LogBlockTables::file_bytes(&self.layout, &self.geometry) as usize);
        let mut put = |n: u32| bytes.extend(n.to_le_bytes());
        put(self.filled);
        self.cycles.iter().for_each(|&c| put(c));
        self.data.iter().for_each(|block| put(block.0));
        for free in &self.free {
            put(free.len() as u32);
            free.iter().for_each(|block| put(block.0));
            (free.len()..self.whole.blocks as usize).for_each(|_| put(NO_BLOCK.0));
        }
        bytes
    }

    /// The state in `file` from byte `at` on, of [`LogBlockTables::file_bytes`] bytes, which `seen` receives, and the first
    /// inconsistency.
    pub fn of_file<E: From<io::Error>>(
        layout: Layout,
        geometry: LogBlockGeometry,
        file: &File,
        at: u64,
        seen: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(LogBlockTables, Option<String>), E> {
        let mut bytes = vec![0; LogBlockTables::file_bytes(&layout, &geometry) as usize];
        file.read_exact_at(&mut bytes, at)?;
        seen(&bytes)?;
        let numbers: Vec<u32> = bytes.as_chunks().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
        let mut tables = LogBlockTables::new(layout, geometry);
        tables.filled = numbers[0];
        let (cycles, rest) = numbers[1..].split_at(tables.cycles.len());
        let (data, lanes) = rest.split_at(tables.data.len());
        tables.cycles.copy_from_slice(cycles);
        tables.data = data.iter().copied().map(SuperBlock).collect();
        for (free, of) in tables.free.iter_mut().zip(lanes.chunks(tables.whole.blocks as usize + 1)) {
            let count = (of[0] as usize).min(of.len() - 1);
            *free = of[1..=count].iter().copied().map(SuperBlock).collect();
        }
        let contradiction = tables.contradiction();
        Ok((tables, contradiction))
    }

    /// First inconsistency of a state that was read.
    fn contradiction(&self) -> Option<String> {
        let units = self.geometry.logical_units();
        if self.filled > units {
            return Some(format!("{} of {units} units have data", self.filled));
        }
        let mut seen = vec![false; self.whole.super_blocks() as usize];
        let mut of_lane = |block: SuperBlock, lane: Lane| {
            let is_on = block.0 < self.whole.super_blocks() && self.whole.lane_of(block).0 == lane;
            let fresh = is_on && !std::mem::replace(&mut seen[block.index()], true);
            (!fresh).then(|| format!("super block {block} is not on lane {lane}, or in use twice"))
        };
        for (lane, free) in Lane::first(self.layout.lanes).zip(&self.free) {
            if let Some(why) = free.iter().find_map(|&block| of_lane(block, lane)) {
                return Some(why);
            }
        }
        for block in LogicalBlock::first(self.geometry.blocks) {
            let data = self.data[block.index()];
            if (self.programs_of(block) > 0) != (data != NO_BLOCK) {
                return Some(format!("logical block {block} has the data block {data}"));
            }
            if let Some(why) = (data != NO_BLOCK).then(|| of_lane(data, self.geometry.lane(block))).flatten()
            {
                return Some(why);
            }
        }
        let missing = seen.iter().position(|seen| !seen);
        missing.map(|block| format!("super block {block} is neither free nor a data block"))
    }
}
