//! Interface of the initial state of an FTL: start of a run, content of a snapshot.

use super::BlockManager;
use super::layout::Layout;
use super::log_block::tables::LogBlockTables;
use super::zoned::tables::ZoneTables;
use enum_dispatch::enum_dispatch;

/// Super blocks of one FTL at the start of a run.
pub struct InitialBlocks<'a> {
    /// Their addresses.
    pub layout: &'a Layout,
    /// Program operations done in each.
    pub programs_done: Vec<u32>,
    /// P/E cycles of each.
    pub cycles: &'a [u32],
}

/// What every family's state can do.
#[enum_dispatch]
pub trait FtlState {
    /// Makes tables shareable with [copies](FtlState::another), though no file holds them.
    fn share(&mut self) {}
    /// Copy of the state for another drive, before a run. Both share the unchanged pages of file-backed tables.
    fn another(&self) -> PreconditionedState;
    /// Logical units.
    fn logical_units(&self) -> u32;
    /// Adds P/E cycles to every super block.
    fn add_pe_cycles(&mut self, cycles: u32);
    /// Bytes that [`FtlState::save`] writes for a file in which they begin at `at`.
    fn bytes(&self, at: u64) -> u64;
    /// Passes the state piece by piece to `sink`, for a file in which it begins at `at`.
    fn save<E>(&self, at: u64, sink: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E>;
    /// Blocks of each FTL.
    fn blocks(&self) -> Vec<InitialBlocks<'_>>;
}

/// State of an FTL ready to run, fresh or preconditioned, by family. A clone copies the maps.
#[derive(Clone)]
#[enum_dispatch(FtlState)]
#[expect(clippy::large_enum_variant, reason = "a drive has one")]
pub enum PreconditionedState {
    /// State of the page-mapped family.
    Page(BlockManager),
    /// State of the zoned family.
    Zoned(ZoneTables),
    /// State of the log-block family.
    LogBlock(LogBlockTables),
    /// State of each namespace.
    Namespaces(EachNamespace),
}

/// State of each namespace, in order.
#[derive(Clone)]
pub struct EachNamespace(pub Vec<PreconditionedState>);

impl FtlState for EachNamespace {
    fn share(&mut self) {
        self.0.iter_mut().for_each(FtlState::share);
    }

    fn another(&self) -> PreconditionedState {
        EachNamespace(self.0.iter().map(FtlState::another).collect()).into()
    }

    fn logical_units(&self) -> u32 {
        self.0.iter().map(FtlState::logical_units).sum()
    }

    fn add_pe_cycles(&mut self, cycles: u32) {
        self.0.iter_mut().for_each(|of| of.add_pe_cycles(cycles));
    }

    fn bytes(&self, at: u64) -> u64 {
        self.0.iter().fold(0, |sum, of| sum + of.bytes(at + sum))
    }

    fn save<E>(&self, mut at: u64, sink: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        for of in &self.0 {
            of.save(at, sink)?;
            at += of.bytes(at);
        }
        Ok(())
    }

    fn blocks(&self) -> Vec<InitialBlocks<'_>> {
        self.0.iter().flat_map(FtlState::blocks).collect()
    }
}
