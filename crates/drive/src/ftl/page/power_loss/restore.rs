//! Block manager after a power cut: map, validity, free and open blocks.

use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::write_streams::{Stream, WritePointer};
use crate::numbers::{Lane, Ppu, SuperBlock};
use interpulse_flash::cell_mode::CellMode;

impl BlockManager {
    /// Restores the rebuilt map, the program operations begun in each super block, and the blocks with an interrupted
    /// erase. An open block continues behind its torn programs; a block with assigned operations that never began is closed
    /// if its lane now writes elsewhere. A stream continues only blocks that it `owns`.
    pub fn restore(
        &mut self,
        places: &[Ppu],
        programs: &[u32],
        broken: &[bool],
        owns: impl Fn(usize, SuperBlock) -> bool,
    ) {
        let full = self.layout.programs_per_block;
        self.units.restore(&self.layout, places);
        for lane in Lane::first(self.layout.lanes) {
            let blocks = self.layout.blocks_of(lane);
            let open = self.open_blocks(lane, programs, broken, &owns);
            let mut free: Vec<SuperBlock> =
                blocks.clone().filter(|&b| programs[b.index()] == 0 && !broken[b.index()]).collect();
            // Least worn first: the order of erases is lost.
            free.iter().for_each(|&b| self.modes.set(b, CellMode::Native));
            free.sort_by_key(|&b| (self.cycles[b.index()], b));
            for b in blocks {
                let written = programs[b.index()] > 0 && !broken[b.index()];
                let closed = written && open.iter().all(|f| f.next_program == full || f.block != b);
                self.units.set_candidate(b, closed);
                if closed && self.in_flight[b.index()] > 0 {
                    self.closed[b.index()] = self.clock;
                    self.clock += 1;
                }
            }
            let l = &mut self.lanes[lane.index()];
            (l.free, l.write_pointers) = (free.into(), open);
        }
        if self.slc.is_some() {
            self.restore_slc(programs, broken);
        }
        self.in_flight.fill(0);
        self.count_lanes();
    }

    /// Blocks of `lane` that its streams continue to write.
    fn open_blocks(
        &self,
        lane: Lane,
        programs: &[u32],
        broken: &[bool],
        owns: &impl Fn(usize, SuperBlock) -> bool,
    ) -> Vec<WritePointer> {
        let full = self.layout.programs_per_block;
        let none = WritePointer { block: SuperBlock(0), next_program: full };
        let before = &self.lanes[lane.index()].write_pointers;
        let mut open = vec![none; before.len()];
        for assigned in [false, true] {
            for of in self.streams.all() {
                let stream = of.index();
                let f = before[stream];
                let begun = programs[f.block.index()];
                let taken = open.iter().any(|o| o.next_program < full && o.block == f.block);
                let here = self.layout.lane_of(f.block).0 == lane && !broken[f.block.index()];
                let next = (f.next_program == full) == assigned && open[stream].next_program == full;
                let own = self.has_data_of(of, f.block) && owns(stream, f.block);
                if here && next && !taken && (1..full).contains(&begun) && own {
                    open[stream] = WritePointer { block: f.block, next_program: begun };
                }
            }
        }
        open
    }

    /// Whether the data of `block` can be of `stream`: a stream without an open block keeps the number of its last one, which
    /// another may have opened since. No stream continues a reprogrammable block by its write pointer.
    fn has_data_of(&self, stream: Stream, block: SuperBlock) -> bool {
        if self.reprograms(block) {
            return false;
        }
        let in_slc = |mode| mode == CellMode::Slc;
        stream.is_map() == self.holds_map(block)
            && in_slc(self.streams.spec(stream).mode) == in_slc(self.modes.of(block))
    }
}
