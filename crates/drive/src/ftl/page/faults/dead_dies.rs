//! Dies that fail: their data is lost, and their lanes take no more data.
//!
//! Operations that such a die has been given end at their time: reads without data, programs of host data as failed. Units on
//! the die keep their map entries until they are written again, then on other dies. The remaining lanes have to hold all
//! logical units beside the blocks that collection needs; otherwise the drive becomes read-only.

use crate::ftl::flash::Flash;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::Lane;
use interpulse_flash::DieId;

impl BlockManager {
    /// Takes `lane` out of use: nothing is programmed there from now on.
    fn close_lane(&mut self, lane: Lane) {
        self.dead.resize(self.layout.lanes as usize, false);
        self.dead[lane.index()] = true;
        self.dead_lanes += 1;
        let full = self.layout.programs_per_block;
        self.take_free_blocks(lane);
        let of = &mut self.lanes[lane.index()];
        of.write_pointers.iter_mut().for_each(|pointer| pointer.next_program = full);
    }

    /// Takes the free blocks of a dead `lane` out of use.
    pub(crate) fn take_free_blocks(&mut self, lane: Lane) {
        self.lanes[lane.index()].free.clear();
        if self.slc.is_some() {
            self.slc_lane(lane).own.clear();
        }
    }

    /// Whether the die of `lane` has failed.
    #[inline]
    pub(crate) fn is_dead(&self, lane: Lane) -> bool {
        self.dead_lanes > 0 && self.dead[lane.index()]
    }
}

impl PageFtl {
    /// The die fails.
    #[cold]
    pub(super) fn die_fails(&mut self, flash: &mut Flash, die: DieId) {
        let lanes = self.blocks.layout.lanes_of(die);
        if lanes.clone().any(|lane| self.blocks.is_dead(lane)) {
            return;
        }
        for lane in lanes {
            self.lose_lane(lane);
            self.blocks.close_lane(lane);
        }
        self.blocks.count_lanes();
        let of = self.injected.as_mut().expect("a configuration with faults");
        of.dead_dies += 1;
        let live = self.blocks.layout.lanes - self.blocks.dead_lanes;
        if !self.blocks.config().holds(&self.blocks.layout, live, self.blocks.set_aside_of_lane()) {
            let bad_blocks = self.bad_blocks.as_mut().expect("faults keep a bad-block table");
            bad_blocks.dies_exceed_reserve(flash.now());
        }
        self.destage(flash);
    }

    /// Loses the valid units of `lane`.
    fn lose_lane(&mut self, lane: Lane) {
        let (map, layout) = (self.blocks.map(), &self.blocks.layout);
        let of = self.injected.as_mut().expect("a configuration with faults");
        for super_block in layout.blocks_of(lane) {
            let valid = (0..layout.units_per_block).filter(|&offset| map.is_valid(super_block, offset));
            for offset in valid {
                let ppu = layout.first_unit(super_block) + offset;
                let lpn = map.logical(ppu);
                if map.get(lpn) == Where::Flash(ppu) {
                    of.lost.lose(lpn);
                }
            }
        }
    }
}
