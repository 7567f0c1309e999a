//! Snapshot format: small numbers in little endian, then the mapping tables, page-aligned.

use crate::ftl::layout::Layout;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::thresholds::FtlConfig;
use crate::ftl::page::blocks::write_streams::{Origin, WritePointer, WriteStreams};
use crate::ftl::page::mapping::table::{Map, Seen};
use crate::memory::PAGE;
use crate::numbers::SuperBlock;
use interpulse_engine::Rng;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes of a table read and checked at a time.
const PIECE: usize = 1 << 18;

/// Padding to a page boundary.
const GAP: [u8; PAGE] = [0; PAGE];

/// Offsets of the parts of a state in its file.
struct Places {
    /// Offset and size of the small numbers.
    numbers: (u64, usize),
    /// Offset of each table.
    tables: [u64; 3],
    end: u64,
}

impl Places {
    fn new(layout: &Layout, config: &FtlConfig, at: u64) -> Places {
        let (blocks, lanes) = (layout.super_blocks() as usize, layout.lanes as usize);
        let streams = 1 + WriteStreams::of(config.translation_pages).count();
        let numbers = blocks * (4 + 4 + 8) + 8 + (streams + lanes * per_lane(layout, config)) * 4;
        let bytes = Map::table_bytes(config.mapped_units(), layout.super_blocks(), layout.units_per_block);
        let mut end = at + numbers as u64;
        let tables = bytes.map(|bytes| {
            let begin = end.next_multiple_of(PAGE as u64);
            end = begin + bytes;
            begin
        });
        Places { numbers: (at, numbers), tables, end }
    }

    fn gaps(&self, tables: [&[u8]; 3]) -> [usize; 3] {
        let mut end = self.numbers.0 + self.numbers.1 as u64;
        std::array::from_fn(|i| {
            let gap = self.tables[i] - end;
            end = self.tables[i] + tables[i].len() as u64;
            gap as usize
        })
    }
}

/// Numbers per lane: the free list, padded to the lane's blocks, with its length, and the write pointer of each stream.
fn per_lane(layout: &Layout, config: &FtlConfig) -> usize {
    layout.blocks as usize + 1 + 2 * WriteStreams::of(config.translation_pages).count()
}

/// Streams as numbers: count, then the origin of each.
fn stream_numbers(streams: &WriteStreams) -> Vec<u32> {
    let origins = streams.all().map(|stream| match streams.spec(stream).origin {
        Origin::Host => 0,
        Origin::Relocation => 1,
        Origin::Map => 2,
    });
    std::iter::once(streams.count() as u32).chain(origins).collect()
}

impl BlockManager {
    /// Passes the state to `sink`, as [`FtlState::save`](crate::ftl::FtlState::save).
    pub(super) fn write_snapshot<E>(
        &self,
        at: u64,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        assert!(
            self.units.hotness().is_none() && self.reprogramming.is_none(),
            "a state is saved before a run only"
        );
        assert!(self.modes.are_native() || self.kept_slc.is_some(), "the format has no cell modes");
        assert!(self.in_flight.iter().all(|&n| n == 0), "a state is saved between programs only");
        sink(&self.numbers())?;
        let tables = self.map().tables();
        for (table, gap) in tables.into_iter().zip(Places::new(&self.layout, self.config(), at).gaps(tables))
        {
            sink(&GAP[..gap])?;
            sink(table)?;
        }
        Ok(())
    }

    /// Bytes of the state of such an FTL in a file from byte `at` on.
    pub fn file_bytes(layout: &Layout, config: &FtlConfig, at: u64) -> u64 {
        Places::new(layout, config, at).end - at
    }

    fn numbers(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.map().weight.iter().for_each(|w| bytes.extend(w.to_le_bytes()));
        self.cycles.iter().for_each(|c| bytes.extend(c.to_le_bytes()));
        self.closed.iter().for_each(|c| bytes.extend(c.to_le_bytes()));
        bytes.extend(self.clock.to_le_bytes());
        stream_numbers(&self.streams).iter().for_each(|n| bytes.extend(n.to_le_bytes()));
        for lane in &self.lanes {
            bytes.extend((lane.free.len() as u32).to_le_bytes());
            let padding = self.layout.blocks as usize - lane.free.len();
            let entries = lane.free.iter().map(|b| b.0).chain(std::iter::repeat_n(u32::MAX, padding));
            entries.for_each(|b| bytes.extend(b.to_le_bytes()));
            for f in &lane.write_pointers[..self.streams.count()] {
                bytes.extend(f.block.0.to_le_bytes());
                bytes.extend(f.next_program.to_le_bytes());
            }
        }
        bytes
    }

    /// State read from `file` at byte `at`, of [`BlockManager::file_bytes`] bytes. The physical-to-logical table maps the
    /// file copy-on-write; the other tables are read. `seen` receives all bytes in file order. With `checks`, also returns
    /// the first inconsistency; the audit at the end of a run compares the map with the physical side.
    pub fn of_file<E: From<io::Error>>(
        layout: Layout,
        config: FtlConfig,
        rng: Rng,
        file: &File,
        at: u64,
        checks: bool,
        seen: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(BlockManager, Option<String>), E> {
        let places = Places::new(&layout, &config, at);
        let mut numbers = vec![0; places.numbers.1];
        file.read_exact_at(&mut numbers, at)?;
        seen(&numbers)?;
        let (logical, blocks, units) = (config.mapped_units(), layout.super_blocks(), layout.units_per_block);
        let mut map = Map::of_file(logical, blocks, units, file, places.tables[1])?;
        let gaps = places.gaps(map.tables());
        let mut found = Seen::nothing();
        for (i, (gap, begin)) in gaps.into_iter().zip(places.tables).enumerate() {
            let mut between = vec![0; gap];
            file.read_exact_at(&mut between, begin - gap as u64)?;
            seen(&between)?;
            let Some(table) = &mut map.tables_to_read()[i] else {
                for piece in map.tables()[i].chunks(PIECE) {
                    seen(piece)?;
                    if checks {
                        found.scan(i, piece);
                    }
                }
                continue;
            };
            let mut from = begin;
            for piece in table.chunks_mut(PIECE) {
                file.read_exact_at(piece, from)?;
                seen(piece)?;
                if checks {
                    found.scan(i, piece);
                }
                from += piece.len() as u64;
            }
        }
        let mut made = BlockManager::over(map, layout, config, rng);
        let contradiction = if !made.restore_numbers(&numbers) {
            Some("the state was written with other write streams".to_string())
        } else if checks {
            made.contradiction(&found)
        } else {
            None
        };
        Ok((made, contradiction))
    }

    /// Restores the small numbers; false if the write streams differ from this version's.
    fn restore_numbers(&mut self, numbers: &[u8]) -> bool {
        let blocks = self.layout.super_blocks() as usize;
        let (weights, rest) = numbers.split_at(blocks * 4);
        let (cycles, rest) = rest.split_at(blocks * 4);
        let (closed, rest) = rest.split_at(blocks * 8);
        let (clock, lanes) = rest.split_at(8);
        let small =
            |bytes: &[u8]| bytes.as_chunks().0.iter().map(|c| u32::from_le_bytes(*c)).collect::<Vec<u32>>();
        let large =
            |bytes: &[u8]| bytes.as_chunks().0.iter().map(|c| u64::from_le_bytes(*c)).collect::<Vec<u64>>();
        self.units.map_mut().weight = small(weights);
        self.cycles = small(cycles);
        self.closed = large(closed);
        self.clock = large(clock)[0];
        let (streams, lanes) = lanes.split_at((1 + self.streams.count()) * 4);
        let same_streams = small(streams) == stream_numbers(&self.streams);
        let per_lane = per_lane(&self.layout, self.config());
        for (lane, numbers) in self.lanes.iter_mut().zip(small(lanes).chunks(per_lane)) {
            let blocks = self.layout.blocks as usize;
            let free = (numbers[0] as usize).min(blocks);
            lane.free = numbers[1..=free].iter().copied().map(SuperBlock).collect();
            let pointers = numbers[blocks + 1..].as_chunks::<2>().0.iter();
            lane.write_pointers =
                pointers.map(|p| WritePointer { block: SuperBlock(p[0]), next_program: p[1] }).collect();
        }
        same_streams
    }

    fn contradiction(&self, seen: &Seen) -> Option<String> {
        let (blocks, full) = (self.layout.super_blocks(), self.layout.programs_per_block);
        let beyond = self.lanes.iter().any(|lane| {
            lane.free.iter().any(|b| b.0 >= blocks)
                || lane.write_pointers.iter().any(|f| f.block.0 >= blocks || f.next_program > full)
        });
        if beyond {
            return Some(format!("a free or an open block lies beyond the {blocks} blocks"));
        }
        self.map().contradiction(seen)
    }
}
