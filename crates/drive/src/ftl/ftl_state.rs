//! Interface of the initial state of an FTL: start of a run, content of a snapshot.

use super::BlockManager;
use super::layout::Layout;
use super::log_block::tables::LogBlockTables;
use super::supplement::Supplement;
use super::zoned::tables::ZoneTables;
use enum_dispatch::enum_dispatch;
use interpulse_flash::cell_mode::CellMode;

/// Super blocks of one FTL at the start of a run.
pub struct InitialBlocks<'a> {
    /// Their addresses.
    pub layout: &'a Layout,
    /// Program operations done in each.
    pub programs_done: Vec<u32>,
    /// P/E cycles of each.
    pub cycles: &'a [u32],
    /// Cell mode of each; empty if all are native.
    pub modes: &'a [CellMode],
    /// Close number of each; empty where none is kept.
    pub closed: &'a [u64],
    /// Blocks closed so far.
    pub clock: u64,
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
    /// Logical units with data.
    fn mapped_units(&self) -> u64;
    /// Adds P/E cycles to every super block.
    fn add_pe_cycles(&mut self, cycles: u32);
    /// Bytes that [`FtlState::save`] writes for a file in which they begin at `at`.
    fn bytes(&self, at: u64) -> u64;
    /// Passes the state piece by piece to `sink`, for a file in which it begins at `at`.
    fn save<E>(&self, at: u64, sink: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E>;
    /// What [`FtlState::save`] does not hold of a state after a run.
    fn supplement(&self) -> Vec<u32>;
    /// Adds the supplement that [`FtlState::supplement`] has returned; the error is its first inconsistency.
    fn restore(&mut self, from: &mut Supplement) -> Result<(), String>;
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

    fn mapped_units(&self) -> u64 {
        self.0.iter().map(FtlState::mapped_units).sum()
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

    fn supplement(&self) -> Vec<u32> {
        self.0.iter().flat_map(FtlState::supplement).collect()
    }

    fn restore(&mut self, from: &mut Supplement) -> Result<(), String> {
        let restore = |(k, of): (u32, &mut PreconditionedState)| {
            of.restore(from).map_err(|why| format!("namespace {k}: {why}"))
        };
        (1..).zip(&mut self.0).try_for_each(restore)
    }

    fn blocks(&self) -> Vec<InitialBlocks<'_>> {
        self.0.iter().flat_map(FtlState::blocks).collect()
    }
}
