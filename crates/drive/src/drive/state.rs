//! Preconditioned state of a drive: start of a run and content of snapshots.

use crate::ftl::BlockManager;
use crate::ftl::page::placement::stripe::Stripe;
use crate::ftl::page::precondition::Preconditioner;

/// State of an FTL ready to run, fresh or preconditioned, by family. A clone copies the maps.
#[derive(Clone)]
pub enum PreconditionedState {
    /// State of the page-mapped family.
    Page(BlockManager),
}

impl PreconditionedState {
    /// Block manager of the page-mapped family.
    pub fn block_manager(&self) -> &BlockManager {
        let PreconditionedState::Page(blocks) = self;
        blocks
    }

    /// Mutable block manager of the page-mapped family, before a run.
    pub fn block_manager_mut(&mut self) -> &mut BlockManager {
        let PreconditionedState::Page(blocks) = self;
        blocks
    }

    /// Takes the block manager of the page-mapped family out.
    pub fn into_block_manager(self) -> BlockManager {
        let PreconditionedState::Page(blocks) = self;
        blocks
    }

    /// Makes tables shareable with [copies](PreconditionedState::another), though no file holds them.
    pub fn share(&mut self) {
        self.block_manager_mut().share();
    }

    /// Copy of the state for another drive, before a run. Both share the unchanged pages of file-backed tables.
    pub fn another(&self) -> PreconditionedState {
        PreconditionedState::Page(self.block_manager().another())
    }

    /// Preconditioner of this state.
    pub fn preconditioner(&mut self, stripe: Option<Stripe>) -> Preconditioner<'_> {
        Preconditioner::new(self.block_manager_mut(), stripe)
    }

    /// Logical units.
    pub fn logical_units(&self) -> u32 {
        self.block_manager().config().logical_units
    }

    /// Adds P/E cycles to every super block.
    pub fn add_pe_cycles(&mut self, cycles: u32) {
        self.block_manager_mut().set_pe_cycles(cycles);
    }

    /// Bytes that [`PreconditionedState::save`] writes for a file in which they begin at `at`.
    pub fn bytes(&self, at: u64) -> u64 {
        self.block_manager().state_bytes(at)
    }

    /// Passes the state piece by piece to `sink`, for a file in which it begins at `at`.
    pub fn save<E>(&self, at: u64, sink: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.block_manager().save(at, sink)
    }
}
