//! Preconditioned state of a drive: fresh, or read from a file.

use crate::ftl::layout::Layout;
use crate::ftl::log_block::geometry::LogBlockGeometry;
use crate::ftl::log_block::tables::LogBlockTables;
use crate::ftl::page::placement::stripe::Stripe;
use crate::ftl::page::precondition::Preconditioner;
use crate::ftl::zoned::geometry::ZoneGeometry;
use crate::ftl::zoned::tables::ZoneTables;
use crate::ftl::{BlockManager, EachNamespace, FtlConfig, FtlState, PreconditionedState};
use crate::spec::{DriveSpec, Impossible};
use interpulse_engine::Rng;
use std::fs::File;
use std::io;

pub(super) const CHECKED: &str = "the spec has been checked";
const NO_MANAGER: &str = "only the page-mapped family, without namespaces, has a block manager";

/// What decides the state of a drive, by family.
enum Family {
    Page(Layout, FtlConfig),
    Zoned(Layout, ZoneGeometry),
    LogBlock(Layout, LogBlockGeometry),
    /// Drive of each namespace.
    Namespaces(Vec<DriveSpec>),
}

impl Family {
    fn of(spec: &DriveSpec) -> Result<Family, Impossible> {
        if spec.is_divided() {
            return Ok(Family::Namespaces(spec.namespaces()?));
        }
        let layout = spec.layout()?;
        if let Some(zones) = spec.zone_geometry()? {
            return Ok(Family::Zoned(layout, zones));
        }
        Ok(match spec.log_block_geometry()? {
            Some(blocks) => Family::LogBlock(layout, blocks),
            None => Family::Page(layout, spec.ftl_config()?),
        })
    }
}

impl PreconditionedState {
    /// State of an erased drive. `rng` drives random victim choice.
    pub fn fresh(spec: &DriveSpec, rng: Rng) -> Result<PreconditionedState, Impossible> {
        Ok(match Family::of(spec)? {
            Family::Page(layout, config) => BlockManager::new(layout, config, rng).into(),
            Family::Zoned(layout, zones) => ZoneTables::new(layout, zones).into(),
            Family::LogBlock(layout, blocks) => LogBlockTables::new(layout, blocks).into(),
            Family::Namespaces(each) => {
                let fresh = |of| PreconditionedState::fresh(of, rng.clone());
                EachNamespace(each.iter().map(fresh).collect::<Result<_, _>>()?).into()
            }
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
        Ok(match Family::of(spec).expect(CHECKED) {
            Family::Page(layout, config) => {
                let (blocks, why) = BlockManager::of_file(layout, config, rng, file, at, checks, seen)?;
                (blocks.into(), why)
            }
            Family::Zoned(layout, zones) => {
                let (tables, why) = ZoneTables::of_file(layout, zones, file, at, seen)?;
                (tables.into(), why)
            }
            Family::LogBlock(layout, blocks) => {
                let (tables, why) = LogBlockTables::of_file(layout, blocks, file, at, seen)?;
                (tables.into(), why)
            }
            Family::Namespaces(each) => {
                let (mut states, mut first_error, mut at) = (Vec::new(), None, at);
                for (k, of) in (1..).zip(&each) {
                    let (state, why) = PreconditionedState::of_file(of, rng.clone(), file, at, checks, seen)?;
                    first_error = first_error.or_else(|| why.map(|why| format!("namespace {k}: {why}")));
                    at += state.bytes(at);
                    states.push(state);
                }
                (EachNamespace(states).into(), first_error)
            }
        })
    }

    /// Bytes of the state of such a drive in a file from byte `at` on.
    pub fn file_bytes(spec: &DriveSpec, at: u64) -> u64 {
        match Family::of(spec).expect(CHECKED) {
            Family::Page(layout, config) => BlockManager::file_bytes(&layout, &config, at),
            Family::Zoned(layout, zones) => ZoneTables::file_bytes(&layout, &zones),
            Family::LogBlock(layout, blocks) => LogBlockTables::file_bytes(&layout, &blocks),
            Family::Namespaces(each) => {
                each.iter().fold(0, |sum, of| sum + PreconditionedState::file_bytes(of, at + sum))
            }
        }
    }

    /// Block manager of the page-mapped family. Panics for another.
    pub fn block_manager(&self) -> &BlockManager {
        let PreconditionedState::Page(blocks) = self else { panic!("{NO_MANAGER}") };
        blocks
    }

    /// Mutable block manager of the page-mapped family, before a run. Panics for another.
    pub fn block_manager_mut(&mut self) -> &mut BlockManager {
        let PreconditionedState::Page(blocks) = self else { panic!("{NO_MANAGER}") };
        blocks
    }

    /// Takes the block manager of the page-mapped family out. Panics for another.
    pub fn into_block_manager(self) -> BlockManager {
        let PreconditionedState::Page(blocks) = self else { panic!("{NO_MANAGER}") };
        blocks
    }

    /// Preconditioner of this state of the page-mapped family.
    pub fn preconditioner(&mut self, stripe: Option<Stripe>) -> Preconditioner<'_> {
        Preconditioner::new(self.block_manager_mut(), stripe)
    }
}
