//! Initial state of the zoned family.

use super::tables::ZoneTables;
use crate::ftl::{FtlState, InitialBlocks, PreconditionedState, Supplement};

impl FtlState for ZoneTables {
    fn another(&self) -> PreconditionedState {
        self.clone().into()
    }

    fn logical_units(&self) -> u32 {
        self.geometry.logical_units()
    }

    fn mapped_units(&self) -> u64 {
        self.written.iter().map(|&units| u64::from(units)).sum()
    }

    fn add_pe_cycles(&mut self, cycles: u32) {
        self.cycles.iter_mut().for_each(|c| *c = c.saturating_add(cycles));
    }

    fn bytes(&self, _: u64) -> u64 {
        ZoneTables::file_bytes(&self.layout, &self.geometry)
    }

    fn save<E>(&self, _: u64, sink: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if self.partial.is_empty() {
            return sink(&self.to_bytes());
        }
        sink(&self.without_partial_zones().to_bytes())
    }

    fn supplement(&self) -> Vec<u32> {
        self.partial_numbers()
    }

    fn restore(&mut self, from: &mut Supplement) -> Result<(), String> {
        self.restore_partial(from)
    }

    fn blocks(&self) -> Vec<InitialBlocks<'_>> {
        vec![InitialBlocks {
            layout: &self.layout,
            programs_done: self.programs_done(),
            cycles: &self.cycles,
            modes: &[],
            closed: &[],
            clock: 0,
        }]
    }
}
