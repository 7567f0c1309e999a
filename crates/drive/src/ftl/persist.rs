//! The state of an FTL as bytes: tables as they are, everything small as little-endian numbers.

use super::map::Map;
use super::streams::{Frontier, Stream};
use super::tables::Tables;
use crate::numbers::{Lpn, Ppu, SuperBlock};

impl Tables {
    /// Bytes that [`Tables::save`] hands out.
    pub fn state_bytes(&self) -> u64 {
        let blocks = u64::from(self.layout.super_blocks());
        let lanes = u64::from(self.layout.lanes);
        (self.map().to_logical.as_bytes().len() + self.map().valid.as_bytes().len()) as u64
            + blocks * (4 + 4 + 8)
            + 8
            + lanes * (4 * u64::from(self.layout.blocks) + 4 + 16)
    }

    /// Hands the state out piece by piece. No program may be under way.
    pub fn save<E>(&self, sink: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        assert!(
            self.units.hotness().is_none() && self.reprogramming.is_none(),
            "a state is saved before a run only"
        );
        assert!(self.in_flight.iter().all(|&n| n == 0), "a state is saved between programs only");
        sink(self.map().to_logical.as_bytes())?;
        sink(self.map().valid.as_bytes())?;
        let weights: Vec<u8> = self.map().weight.iter().flat_map(|w| w.to_le_bytes()).collect();
        sink(&weights)?;
        let cycles: Vec<u8> = self.cycles.iter().flat_map(|c| c.to_le_bytes()).collect();
        sink(&cycles)?;
        let closed: Vec<u8> = self.closed.iter().flat_map(|c| c.to_le_bytes()).collect();
        sink(&closed)?;
        sink(&self.clock.to_le_bytes())?;
        let mut lanes = Vec::new();
        for lane in &self.lanes {
            // A fixed size for each lane: the free list is padded to the lane's blocks.
            lanes.extend((lane.free.len() as u32).to_le_bytes());
            let padding = self.layout.blocks as usize - lane.free.len();
            let entries = lane.free.iter().map(|b| b.0).chain(std::iter::repeat_n(u32::MAX, padding));
            entries.for_each(|b| lanes.extend(b.to_le_bytes()));
            for f in &lane.frontiers[..2] {
                lanes.extend(f.block.0.to_le_bytes());
                lanes.extend(f.next_program.to_le_bytes());
            }
        }
        sink(&lanes)
    }

    /// Takes the state in; [`Tables::rebuild`] completes it.
    pub fn load<E>(&mut self, source: &mut dyn FnMut(&mut [u8]) -> Result<(), E>) -> Result<(), E> {
        source(self.units.map_mut().to_logical.as_bytes_mut())?;
        source(self.units.map_mut().valid.as_bytes_mut())?;
        let blocks = self.layout.super_blocks() as usize;
        let mut bytes = vec![0; blocks * 4];
        source(&mut bytes)?;
        self.units.map_mut().weight = bytes.as_chunks().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
        source(&mut bytes)?;
        self.cycles = bytes.as_chunks().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
        bytes.resize(blocks * 8, 0);
        source(&mut bytes)?;
        self.closed = bytes.as_chunks().0.iter().map(|c| u64::from_le_bytes(*c)).collect();
        let mut clock = [0; 8];
        source(&mut clock)?;
        self.clock = u64::from_le_bytes(clock);
        let per_lane = self.layout.blocks as usize + 1 + 4;
        let mut bytes = vec![0; self.layout.lanes as usize * per_lane * 4];
        source(&mut bytes)?;
        let numbers: Vec<u32> = bytes.as_chunks().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
        for (lane, numbers) in self.lanes.iter_mut().zip(numbers.chunks(per_lane)) {
            let free = (numbers[0] as usize).min(per_lane - 5);
            lane.free = numbers[1..=free].iter().copied().map(SuperBlock).collect();
            let tail = &numbers[per_lane - 4..];
            lane.frontiers[Stream::Host as usize] =
                Frontier { block: SuperBlock(tail[0]), next_program: tail[1] };
            lane.frontiers[Stream::Gc as usize] =
                Frontier { block: SuperBlock(tail[2]), next_program: tail[3] };
        }
        Ok(())
    }

    /// Rebuilds the logical-to-physical map from the rest. `progress` gets blocks done and in all, and returns false to stop.
    /// Returns whether it came to its end; Err says what contradicts.
    pub fn rebuild(&mut self, progress: &mut dyn FnMut(u64, u64) -> bool) -> Result<bool, String> {
        /// How far ahead map entries are fetched.
        const AHEAD: usize = 32;
        /// Blocks between two reports: some ten milliseconds.
        const REPORTED: u32 = 256;
        let blocks = self.layout.super_blocks();
        let logical = self.map().logical_units();
        let mut list: Vec<(Lpn, Ppu)> = Vec::new();
        for block in SuperBlock::first(blocks) {
            if block.0 % REPORTED == 0 && !progress(u64::from(block.0), u64::from(blocks)) {
                return Ok(false);
            }
            list.clear();
            let first = self.layout.first_unit(block);
            for (w, &word) in self.map().valid_words(block).iter().enumerate() {
                let mut bits = word;
                while bits != 0 {
                    let ppu = first + (w as u32 * 64 + bits.trailing_zeros());
                    list.push((self.map().logical(ppu), ppu));
                    bits &= bits - 1;
                }
            }
            if list.len() != (self.map().weight[block.index()] & !Map::NOT_A_CANDIDATE) as usize {
                return Err(format!("block {block} does not hold as many valid units as it counts"));
            }
            for i in 0..list.len() {
                if let Some(&(ahead, _)) = list.get(i + AHEAD) {
                    self.map().prefetch(ahead);
                }
                let (lpn, ppu) = list[i];
                if lpn.0 >= logical {
                    return Err(format!("unit {ppu} holds logical unit {lpn} of {logical}"));
                }
                self.units.map_mut().set_physical(lpn, ppu);
            }
        }
        Ok(progress(u64::from(blocks), u64::from(blocks)))
    }
}
