//! Initial state of the log-block family.

use super::tables::LogBlockTables;
use crate::ftl::{FtlState, InitialBlocks, PreconditionedState, Supplement};

impl FtlState for LogBlockTables {
    fn another(&self) -> PreconditionedState {
        self.clone().into()
    }

    fn logical_units(&self) -> u32 {
        self.geometry.logical_units()
    }

    fn mapped_units(&self) -> u64 {
        self.units_with_data()
    }

    fn add_pe_cycles(&mut self, cycles: u32) {
        self.cycles.iter_mut().for_each(|c| *c = c.saturating_add(cycles));
    }

    fn bytes(&self, _: u64) -> u64 {
        LogBlockTables::file_bytes(&self.layout, &self.geometry)
    }

    fn save<E>(&self, _: u64, sink: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        sink(&self.of_snapshot().to_bytes())
    }

    fn supplement(&self) -> Vec<u32> {
        self.kept_numbers()
    }

    fn restore(&mut self, from: &mut Supplement) -> Result<(), String> {
        self.restore_kept(from)
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
