//! Initial state of the zoned family.

use super::tables::ZoneTables;
use crate::ftl::{FtlState, InitialBlocks, PreconditionedState};

impl FtlState for ZoneTables {
    fn another(&self) -> PreconditionedState {
        self.clone().into()
    }

    fn logical_units(&self) -> u32 {
        self.geometry.logical_units()
    }

    fn add_pe_cycles(&mut self, cycles: u32) {
        self.cycles.iter_mut().for_each(|c| *c = c.saturating_add(cycles));
    }

    fn bytes(&self, _: u64) -> u64 {
        ZoneTables::file_bytes(&self.layout, &self.geometry)
    }

    fn save<E>(&self, _: u64, sink: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        sink(&self.to_bytes())
    }

    fn blocks(&self) -> Vec<InitialBlocks<'_>> {
        vec![InitialBlocks {
            layout: &self.layout,
            programs_done: self.programs_done(),
            cycles: &self.cycles,
        }]
    }
}
