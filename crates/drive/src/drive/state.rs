//! Preconditioned state of a drive: start of a run and content of snapshots.

use crate::ftl::BlockManager;
use crate::ftl::layout::Layout;
use crate::ftl::log_block::tables::LogBlockTables;
use crate::ftl::page::placement::stripe::Stripe;
use crate::ftl::page::precondition::Preconditioner;
use crate::ftl::zoned::tables::ZoneTables;
use crate::spec::{DriveSpec, Impossible};
use interpulse_engine::Rng;
use std::fs::File;
use std::io;

pub(super) const CHECKED: &str = "the spec has been checked";
const NO_MANAGER: &str = "only the page-mapped family, without namespaces, has a block manager";

/// State of an FTL ready to run, fresh or preconditioned, by family. A clone copies the maps.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "a drive has one")]
pub enum PreconditionedState {
    /// State of the page-mapped family.
    Page(BlockManager),
    /// State of the zoned family.
    Zoned(ZoneTables),
    /// State of the log-block family.
    LogBlock(LogBlockTables),
    /// State of each namespace.
    Namespaces(Vec<PreconditionedState>),
}

/// Super blocks of one FTL at the start of a run.
pub(super) struct InitialBlocks<'a> {
    /// Their addresses.
    pub layout: &'a Layout,
    /// Program operations done in each.
    pub programs_done: Vec<u32>,
    /// P/E cycles of each.
    pub cycles: &'a [u32],
}

impl PreconditionedState {
    /// State of an erased drive. `rng` drives random victim choice.
    pub fn fresh(spec: &DriveSpec, rng: Rng) -> Result<PreconditionedState, Impossible> {
        if spec.is_divided() {
            let fresh = |of: DriveSpec| PreconditionedState::fresh(&of, rng.clone());
            return Ok(PreconditionedState::Namespaces(
                spec.namespaces()?.into_iter().map(fresh).collect::<Result<_, _>>()?,
            ));
        }
        if let Some(blocks) = spec.log_block_geometry()? {
            return Ok(PreconditionedState::LogBlock(LogBlockTables::new(spec.layout()?, blocks)));
        }
        Ok(match spec.zone_geometry()? {
            Some(zones) => PreconditionedState::Zoned(ZoneTables::new(spec.layout()?, zones)),
            None => PreconditionedState::Page(spec.fresh_ftl(rng)?),
        })
    }

    /// State read from `file` at byte `at`, and with `checks` its first inconsistency; `seen` receives all bytes.
    pub fn of_file<E: From<io::Error>>(
        spec: &DriveSpec,
        rng: Rng,
        file: &File,
        at: u64,
        checks: bool,
        seen: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(PreconditionedState, Option<String>), E> {
        if spec.is_divided() {
            let (mut states, mut first_error, mut at) = (Vec::new(), None, at);
            for (k, of) in (1..).zip(spec.namespaces().expect(CHECKED)) {
                let (state, why) = PreconditionedState::of_file(&of, rng.clone(), file, at, checks, seen)?;
                first_error = first_error.or_else(|| why.map(|why| format!("namespace {k}: {why}")));
                at += state.bytes(at);
                states.push(state);
            }
            return Ok((PreconditionedState::Namespaces(states), first_error));
        }
        let layout = spec.layout().expect(CHECKED);
        if let Some(zones) = spec.zone_geometry().expect(CHECKED) {
            let (tables, why) = ZoneTables::of_file(layout, zones, file, at, seen)?;
            return Ok((PreconditionedState::Zoned(tables), why));
        }
        if let Some(blocks) = spec.log_block_geometry().expect(CHECKED) {
            let (tables, why) = LogBlockTables::of_file(layout, blocks, file, at, seen)?;
            return Ok((PreconditionedState::LogBlock(tables), why));
        }
        let config = spec.ftl_config().expect(CHECKED);
        let (blocks, why) = BlockManager::of_file(layout, config, rng, file, at, checks, seen)?;
        Ok((PreconditionedState::Page(blocks), why))
    }

    /// Bytes of the state of such a drive in a file from byte `at` on.
    pub fn file_bytes(spec: &DriveSpec, at: u64) -> u64 {
        if spec.is_divided() {
            let each = spec.namespaces().expect(CHECKED);
            return each.iter().fold(0, |sum, of| sum + PreconditionedState::file_bytes(of, at + sum));
        }
        let layout = spec.layout().expect(CHECKED);
        if let Some(blocks) = spec.log_block_geometry().expect(CHECKED) {
            return LogBlockTables::file_bytes(&layout, &blocks);
        }
        match spec.zone_geometry().expect(CHECKED) {
            Some(zones) => ZoneTables::file_bytes(&layout, &zones),
            None => BlockManager::file_bytes(&layout, &spec.ftl_config().expect(CHECKED), at),
        }
    }

    /// Block manager of the page-mapped family. Panics for another.
    pub fn block_manager(&self) -> &BlockManager {
        match self {
            PreconditionedState::Page(blocks) => blocks,
            _ => panic!("{NO_MANAGER}"),
        }
    }

    /// Mutable block manager of the page-mapped family, before a run. Panics for another.
    pub fn block_manager_mut(&mut self) -> &mut BlockManager {
        match self {
            PreconditionedState::Page(blocks) => blocks,
            _ => panic!("{NO_MANAGER}"),
        }
    }

    /// Takes the block manager of the page-mapped family out. Panics for another.
    pub fn into_block_manager(self) -> BlockManager {
        match self {
            PreconditionedState::Page(blocks) => blocks,
            _ => panic!("{NO_MANAGER}"),
        }
    }

    /// Makes tables shareable with [copies](PreconditionedState::another), though no file holds them.
    pub fn share(&mut self) {
        match self {
            PreconditionedState::Page(blocks) => blocks.share(),
            PreconditionedState::Zoned(_) | PreconditionedState::LogBlock(_) => {}
            PreconditionedState::Namespaces(each) => each.iter_mut().for_each(PreconditionedState::share),
        }
    }

    /// Copy of the state for another drive, before a run. Both share the unchanged pages of file-backed tables.
    pub fn another(&self) -> PreconditionedState {
        match self {
            PreconditionedState::Page(blocks) => PreconditionedState::Page(blocks.another()),
            PreconditionedState::Zoned(tables) => PreconditionedState::Zoned(tables.clone()),
            PreconditionedState::LogBlock(tables) => PreconditionedState::LogBlock(tables.clone()),
            PreconditionedState::Namespaces(each) => {
                PreconditionedState::Namespaces(each.iter().map(PreconditionedState::another).collect())
            }
        }
    }

    /// Preconditioner of this state of the page-mapped family.
    pub fn preconditioner(&mut self, stripe: Option<Stripe>) -> Preconditioner<'_> {
        Preconditioner::new(self.block_manager_mut(), stripe)
    }

    /// Logical units.
    pub fn logical_units(&self) -> u32 {
        match self {
            PreconditionedState::Page(blocks) => blocks.config().logical_units,
            PreconditionedState::Zoned(tables) => tables.geometry.logical_units(),
            PreconditionedState::LogBlock(tables) => tables.geometry.logical_units(),
            PreconditionedState::Namespaces(each) => {
                each.iter().map(PreconditionedState::logical_units).sum()
            }
        }
    }

    /// Adds P/E cycles to every super block.
    pub fn add_pe_cycles(&mut self, cycles: u32) {
        match self {
            PreconditionedState::Page(blocks) => blocks.set_pe_cycles(cycles),
            PreconditionedState::Zoned(tables) => tables.add_cycles(cycles),
            PreconditionedState::LogBlock(tables) => tables.add_cycles(cycles),
            PreconditionedState::Namespaces(each) => each.iter_mut().for_each(|of| of.add_pe_cycles(cycles)),
        }
    }

    /// Bytes that [`PreconditionedState::save`] writes for a file in which they begin at `at`.
    pub fn bytes(&self, at: u64) -> u64 {
        match self {
            PreconditionedState::Page(blocks) => blocks.state_bytes(at),
            PreconditionedState::Zoned(tables) => ZoneTables::file_bytes(&tables.layout, &tables.geometry),
            PreconditionedState::LogBlock(tables) => {
                LogBlockTables::file_bytes(&tables.layout, &tables.geometry)
            }
            PreconditionedState::Namespaces(each) => each.iter().fold(0, |sum, of| sum + of.bytes(at + sum)),
        }
    }

    /// Passes the state piece by piece to `sink`, for a file in which it begins at `at`.
    pub fn save<E>(&self, at: u64, sink: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self {
            PreconditionedState::Page(blocks) => blocks.save(at, sink),
            PreconditionedState::Zoned(tables) => sink(&tables.bytes()),
            PreconditionedState::LogBlock(tables) => sink(&tables.bytes()),
            PreconditionedState::Namespaces(each) => {
                let mut at = at;
                for of in each {
                    of.save(at, sink)?;
                    at += of.bytes(at);
                }
                Ok(())
            }
        }
    }

    /// Blocks of each FTL.
    pub(super) fn blocks(&self) -> Vec<InitialBlocks<'_>> {
        let (layout, programs_done, cycles) = match self {
            PreconditionedState::Page(blocks) => {
                (&blocks.layout, blocks.programs_done(), blocks.cycles.as_slice())
            }
            PreconditionedState::Zoned(tables) => {
                (&tables.layout, tables.programs_done(), tables.cycles.as_slice())
            }
            PreconditionedState::LogBlock(tables) => {
                (&tables.layout, tables.programs_done(), tables.cycles.as_slice())
            }
            PreconditionedState::Namespaces(each) => {
                return each.iter().flat_map(PreconditionedState::blocks).collect();
            }
        };
        vec![InitialBlocks { layout, programs_done, cycles }]
    }
}
