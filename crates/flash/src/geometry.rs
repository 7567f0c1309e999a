//! Geometry of a flash array (channel, chip, die, plane, block, word line, page, mapping unit) and operation times.
//!
//! Dies are numbered channel by channel: die = (channel * chips + chip) * dies_per_chip + die_in_chip.

use crate::ids::{BlockId, DieId};
use crate::parts::{CommandBus, PartSpec, ProgramMode};
use interpulse_engine::{Bytes, Duration};
use std::ops::Range;

/// Default size of a mapping unit, in bytes.
pub const UNIT_BYTES: u64 = 4096;

/// A block of a flash array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAddress {
    /// The die.
    pub die: DieId,
    /// The plane of the die.
    pub plane: u32,
    /// The block of the plane.
    pub block: BlockId,
}

/// A page of a flash array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageAddress {
    /// The block.
    pub of: BlockAddress,
    /// The page of the block.
    pub page: u32,
}

/// A range of planes of one die that operate together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planes {
    /// The first plane.
    pub first: u32,
    /// Number of planes.
    pub count: u32,
}

/// A range of pages of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// The first page.
    pub first: u32,
    /// Number of pages.
    pub count: u32,
}

impl Planes {
    /// Iterates over the planes.
    #[inline]
    pub fn each(self) -> Range<u32> {
        self.first..self.first + self.count
    }
}

impl Pages {
    /// The empty range.
    pub const NONE: Pages = Pages { first: 0, count: 0 };

    /// The page after the last one.
    #[inline]
    pub fn end(self) -> u32 {
        self.first + self.count
    }
}

/// Dimensions of the flash array of one drive.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// Channels (buses).
    pub channels: u32,
    /// Chips (targets) on each channel.
    pub chips_per_channel: u32,
    /// Dies (LUNs) in each chip.
    pub dies_per_chip: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Blocks of a plane.
    pub blocks_per_plane: u32,
    /// Word lines of a block.
    pub word_lines: u32,
    /// Pages on a word line (bits per cell).
    pub pages_per_word_line: u32,
    /// Bytes of a mapping unit.
    pub unit_bytes: u64,
    /// Mapping units in a page.
    pub units_per_page: u32,
    /// Layers of a block.
    pub layers: u32,
    /// Consecutive blocks of a plane that are sub-blocks of one; 1 for whole blocks.
    pub sub_blocks: u32,
    /// Pages programmed by one operation on one plane.
    pub pages_per_program: u32,
    /// Pages of the next program that the cache register holds on one plane; 0 without cache program.
    pub cache_pages: u32,
    /// Whether the die senses a page while the previous page leaves the cache register (cache read).
    pub cache_reads: bool,
    /// Whether every plane of a die reads on its own.
    pub independent_plane_reads: bool,
    /// Whether a channel has a bus for commands beside that for data.
    pub separate_commands: bool,
}

impl Geometry {
    /// The array of `channels` x `chips_per_channel` x `dies_per_chip` dies of `part`.
    pub fn new(channels: u32, chips_per_channel: u32, dies_per_chip: u32, part: &PartSpec) -> Geometry {
        Geometry {
            channels,
            chips_per_channel,
            dies_per_chip,
            planes: part.planes,
            blocks_per_plane: part.blocks_per_plane,
            word_lines: part.word_lines(),
            pages_per_word_line: part.bits_per_cell,
            unit_bytes: UNIT_BYTES,
            units_per_page: (part.page_size.get() / UNIT_BYTES) as u32,
            layers: part.layers,
            sub_blocks: part.sub_blocks.count,
            pages_per_program: match part.program_mode {
                ProgramMode::OneShot | ProgramMode::TwoStep => part.bits_per_cell,
                ProgramMode::Page => 1,
            },
            cache_pages: part.cache.pages,
            cache_reads: part.cache.reads,
            independent_plane_reads: part.independent_plane_reads,
            separate_commands: part.command_bus == CommandBus::Separate,
        }
    }

    /// The same array with mapping units of `unit_bytes`, which must divide a page.
    #[must_use]
    pub fn with_unit_bytes(self, unit_bytes: u64) -> Geometry {
        let page = u64::from(self.units_per_page) * self.unit_bytes;
        assert!(
            page.is_multiple_of(unit_bytes),
            "units of {unit_bytes} bytes do not divide a page of {page}"
        );
        Geometry { unit_bytes, units_per_page: (page / unit_bytes) as u32, ..self }
    }

    /// Codewords of ECC in a mapping unit: one per 4 KiB.
    #[inline]
    pub fn codewords_per_unit(&self) -> u32 {
        (self.unit_bytes / UNIT_BYTES) as u32
    }

    /// Dies of the drive.
    pub fn dies(&self) -> u32 {
        self.channels * self.chips_per_channel * self.dies_per_chip
    }

    /// Whether dies use a cache register.
    #[inline]
    pub fn has_cache_register(&self) -> bool {
        self.cache_pages > 0 || self.cache_reads
    }

    /// The channel of `die`.
    #[inline]
    pub fn channel_of(&self, die: DieId) -> u32 {
        die.0 / (self.chips_per_channel * self.dies_per_chip)
    }

    /// Pages of a block that hold data.
    pub fn pages_per_block(&self) -> u32 {
        self.word_lines * self.pages_per_word_line
    }

    /// The other sub-blocks of the block that `block` is part of.
    pub fn beside(&self, block: BlockId) -> impl Iterator<Item = BlockId> + use<> {
        let first = block.0 - block.0 % self.sub_blocks;
        let all = first..(first + self.sub_blocks).min(self.blocks_per_plane);
        all.map(BlockId).filter(move |&other| other != block)
    }

    /// Mapping units of a block of one plane.
    pub fn units_per_block(&self) -> u32 {
        self.pages_per_block() * self.units_per_page
    }
}

/// Operation times of a part in whole nanoseconds, rounded once.
#[derive(Clone, Debug)]
pub struct Timing {
    /// tR by page type, least significant first.
    pub read: Vec<Duration>,
    /// tR of a page of an MLC-mode word line; tR of the least significant page if the part gives none.
    pub read_mlc_mode: Duration,
    /// tR of a page of an SLC-mode word line; tR of the least significant page if the part gives none.
    pub read_slc_mode: Duration,
    /// Bus time of the data of a read of 1, 2, ... units of a page; index 0 is a read of a part of a unit.
    pub transfer_units: Vec<Duration>,
    /// Bytes on the bus of a read of 1, 2, ... units of a page; index 0 is a read of a part of a unit
    /// ([`Timing::set_part_of_unit`]).
    pub bytes_of_units: Vec<u64>,
    /// Bus time of a page with its parity into the page buffer.
    pub page_load: Duration,
    /// Bytes of a page with its parity.
    pub page_bytes: u64,
    /// Set-up of the page buffer after each page load, during which the bus is free.
    pub buffer_setup: Duration,
    /// Transfer from the cache register to the page buffer.
    pub cache_transfer: Duration,
    /// Command and address cycles on their bus.
    pub command: Duration,
    /// What of them is on the bus of the data: none where commands have a bus of their own.
    pub shared_command: Duration,
}

/// Time of `bytes` on the bus of `part`, rounded up.
fn bus_time(part: &PartSpec, bytes: u64) -> Duration {
    let ns = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(part.bus_rate));
    Duration::from_ns(ns as u64)
}

impl Timing {
    /// The times of `part` with mapping units of `unit_bytes`.
    pub fn new(part: &PartSpec, unit_bytes: u64) -> Timing {
        let units = part.page_size.get() / unit_bytes;
        let transfer = |bytes: u64| bus_time(part, bytes);
        let bytes = |k: u64| part.read_transfer.bytes(k, unit_bytes, part.page_size, part.page_parity);
        let page_bytes = part.page_size.get() + part.page_parity.get();
        Timing {
            read: part.read.clone(),
            read_mlc_mode: part.reprogram.map_or(part.read[0], |r| r.read),
            read_slc_mode: part.slc_mode.map_or(part.read[0], |of| of.read),
            transfer_units: (0..=units).map(|k| transfer(bytes(k))).collect(),
            bytes_of_units: (0..=units).map(bytes).collect(),
            page_load: part.page_load.unwrap_or_else(|| transfer(page_bytes)),
            page_bytes,
            buffer_setup: part.buffer_setup,
            cache_transfer: part.cache.transfer,
            command: part.command_cycles,
            shared_command: match part.command_bus {
                CommandBus::Shared => part.command_cycles,
                CommandBus::Separate => Duration::ZERO,
            },
        }
    }

    /// Sets what a read of a part of a unit moves.
    pub fn set_part_of_unit(&mut self, part: &PartSpec, bytes: Bytes) {
        (self.transfer_units[0], self.bytes_of_units[0]) = (bus_time(part, bytes.get()), bytes.get());
    }
}
