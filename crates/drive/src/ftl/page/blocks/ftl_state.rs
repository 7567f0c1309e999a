//! Block manager as the initial state of the page-mapped family.

use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::{FtlState, InitialBlocks, PreconditionedState, Supplement};
use crate::numbers::Lpn;

impl FtlState for BlockManager {
    fn share(&mut self) {
        self.units.share();
    }

    fn another(&self) -> PreconditionedState {
        let another = BlockManager {
            layout: self.layout.clone(),
            units: self.units.another(),
            config: self.config.clone(),
            streams: self.streams.clone(),
            lanes: self.lanes.clone(),
            cycles: self.cycles.clone(),
            closed: self.closed.clone(),
            modes: self.modes.clone(),
            in_flight: self.in_flight.clone(),
            overfull: self.overfull.clone(),
            lanes_differ: self.lanes_differ,
            level: None,
            reprogramming: self.reprogramming.clone(),
            slc: None,
            kept_slc: self.kept_slc.clone(),
            dead: Vec::new(),
            rng: self.rng.clone(),
            ..*self
        };
        another.into()
    }

    fn logical_units(&self) -> u32 {
        self.config().logical_units
    }

    fn mapped_units(&self) -> u64 {
        let mapped = |lpn: &Lpn| self.map().get(*lpn) != Where::Unmapped;
        Lpn(0).until(Lpn(self.config().logical_units)).filter(mapped).count() as u64
    }

    fn add_pe_cycles(&mut self, cycles: u32) {
        self.cycles.iter_mut().for_each(|c| *c = c.saturating_add(cycles));
    }

    fn bytes(&self, at: u64) -> u64 {
        BlockManager::file_bytes(&self.layout, self.config(), at)
    }

    /// Panics if a program is in flight.
    fn save<E>(&self, at: u64, sink: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.write_snapshot(at, sink)
    }

    fn supplement(&self) -> Vec<u32> {
        self.slc_numbers()
    }

    fn restore(&mut self, from: &mut Supplement) -> Result<(), String> {
        self.restore_slc_numbers(from)
    }

    fn blocks(&self) -> Vec<InitialBlocks<'_>> {
        vec![InitialBlocks {
            layout: &self.layout,
            programs_done: self.programs_done(),
            cycles: &self.cycles,
            modes: self.modes.all(),
            closed: &self.closed,
            clock: self.clock,
        }]
    }
}
