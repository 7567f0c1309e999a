//! Assembling a drive from its spec and a preconditioned FTL.

use super::abort_state::Aborts;
use super::fault_injector::FaultInjector;
use super::format_state::Formats;
use super::history::planes_of;
use super::power_state::Outage;
use super::state::CHECKED;
use super::window_state::LatencyWindows;
use super::{Drive, ResourceMap};
use crate::cache_writers::SlotWriters;
use crate::dram::Dram;
use crate::firmware::Firmware;
use crate::ftl::{
    Ftl, FtlFamily, FtlState, InitialBlocks, LogBlockFtl, NamespaceFamily, NamespacedFtl, PageFtl,
    PreconditionedState, Timers, ZonedFtl,
};
use crate::host_interface::HostInterface;
use crate::numbers::SuperBlock;
use crate::read_cache::ReadCache;
use crate::spec::DriveSpec;
use interpulse_engine::{Duration, ResourceId, Streams};
use interpulse_flash::cell_mode::CellMode;
use interpulse_flash::errors::{ErrorSpec, InitialAges};
use interpulse_flash::nand::Nand;
use interpulse_flash::nand::flow_order::HostOrder;
use std::cmp::Reverse;

impl Drive {
    /// Drive over `state` whose resources begin at `first`, with `host_timers` timers of its host among them. Panics if the
    /// spec was not [checked](DriveSpec::check) or the state belongs to another geometry.
    pub fn new(
        spec: DriveSpec,
        state: PreconditionedState,
        seed: u64,
        first: ResourceId,
        host_timers: u32,
    ) -> Drive {
        let streams = Streams::new(seed);
        let mut nand = Nand::new(spec.geometry.clone(), &spec.part, spec.nand.clone(), seed, first);
        if let Some(bytes) = spec.ftl.mapping.cached().and_then(|of| of.read_transfer) {
            nand.set_part_of_unit(&spec.part, bytes);
        }
        let errors = spec.nand.errors.as_ref().filter(|of| of.initial_ages == InitialAges::Closed).cloned();
        for blocks in state.blocks() {
            set_blocks(&mut nand, &blocks);
            if let Some(errors) = &errors {
                set_ages(&mut nand, errors, &blocks);
            }
        }
        let place = ResourceMap { first: first.0, flash: Nand::resources(&spec.geometry), host_timers };
        let power = u32::from(spec.refreshes());
        let timers = Timers {
            patrol: place.later(0),
            checkpoint: place.later(power + 1),
            idle: place.later(Drive::idle_timer(&spec)),
        };
        let mut ftl = family(&spec, state, &nand, &streams, timers);
        if spec.wear_before.is_some() {
            set_cycles(&spec, &mut nand, &ftl);
        }
        follow_queues(&spec, &mut nand, &mut ftl);
        if spec.predictable_latency.is_some() {
            nand.admit_deterministic_windows();
        }
        let faults = FaultInjector::new(&spec, &mut nand, &streams);
        let ftl_units = ftl.logical_units();
        let host = HostInterface::new(&spec.host, spec.geometry.unit_bytes, place.lines())
            .with_delays(&spec.host, streams);
        Drive {
            follows_reads: ftl.follows_reads(),
            reads_end_early: host.queues_ahead() && !ftl.follows_reads(),
            has_detours: faults.is_some()
                || spec.firmware.is_some()
                || spec.read_cache.is_some()
                || !spec.formats.is_empty()
                || spec.ftl.is_open_channel()
                || spec.follows_queues(),
            waits_apart: ftl.namespaces().is_some() || spec.divides_cache(),
            ftl,
            nand,
            host,
            read_cache: spec.read_cache.as_ref().map(|of| {
                let (logical, queues) = (ftl_units, spec.host.queue_weights.len());
                Box::new(ReadCache::new(of, logical, spec.geometry.unit_bytes, queues))
            }),
            dram: spec.dram.map(|of| Box::new(Dram::new(of))),
            firmware: spec
                .firmware
                .as_ref()
                .map(|of| Box::new(Firmware::new(of, place.later(Drive::firmware_timer(&spec))))),
            place,
            outage: spec.power_loss.map(Outage::new),
            closed: false,
            watches_submissions: spec.host.max_transfer.is_some() || spec.host.abort_limit.is_some(),
            formats: Formats::new(&spec.formats),
            aborts: Aborts::new(&spec.host),
            vectors: Default::default(),
            windows: LatencyWindows::new(spec.predictable_latency),
            faults,
            counters: Default::default(),
            spec,
        }
    }
}

/// Follows the queues of commands in the write cache and at the dies, where they matter.
fn follow_queues(spec: &DriveSpec, nand: &mut Nand, ftl: &mut FtlFamily) {
    if let Some(classes) =
        spec.host.classes.as_ref().filter(|_| spec.nand.host_order == HostOrder::QueueClasses)
    {
        nand.order_by_class([classes.class_weights[0], classes.class_weights[1], classes.class_weights[2]]);
    }
    if let Some(cache) = ftl.write_cache().filter(|_| spec.divides_cache()) {
        let (slots, queues) = (cache.slots(), spec.host.queue_weights.len());
        cache.follow_writers(SlotWriters::new(slots, queues, slots / queues as u32));
    }
}

/// Sets the programmed pages of an FTL's blocks, and their P/E cycles.
fn set_blocks(nand: &mut Nand, of: &InitialBlocks) {
    let InitialBlocks { layout, programs_done, cycles, modes, .. } = of;
    let pages = layout.pages_per_program;
    let super_blocks = || SuperBlock::first(layout.super_blocks());
    for (super_block, programs) in super_blocks().zip(programs_done) {
        let (lane, block) = layout.lane_of(super_block);
        let (die, plane) = layout.die_of(lane);
        let blocks = nand.dies_mut()[die.index()].blocks_mut();
        for p in plane..plane + layout.planes {
            let pages = (programs * pages) as u16;
            match modes.get(super_block.index()) {
                Some(&mode) if mode != CellMode::Native => blocks.set_programmed_in(mode, p, block, pages),
                _ => blocks.set_programmed(p, block, pages),
            }
        }
    }
    if let Some(reliability) = nand.reliability_mut() {
        for super_block in super_blocks() {
            for at in planes_of(layout, super_block) {
                reliability.set_cycles(at, cycles[super_block.index()]);
            }
        }
    }
}

/// Sets the ages and reads of an FTL's closed blocks by the blocks that were closed since.
fn set_ages(nand: &mut Nand, errors: &ErrorSpec, of: &InitialBlocks) {
    let InitialBlocks { layout, programs_done, closed, clock, .. } = of;
    let Some(reliability) = nand.reliability_mut() else { return };
    let full = |&(block, _): &(SuperBlock, u64)| programs_done[block.index()] == layout.programs_per_block;
    let past = |(super_block, closed)| {
        let (age, reads) = errors.past_of_closed(clock - closed, layout.super_blocks().into());
        (age, reads, super_block)
    };
    let blocks = SuperBlock::first(layout.super_blocks()).zip(closed.iter().copied());
    let mut pasts: Vec<(Duration, u32, SuperBlock)> = blocks.filter(full).map(past).collect();
    // The oldest first: each age beyond those before it moves the clock of all blocks.
    pasts.sort_by_key(|&(age, ..)| Reverse(age));
    for (age, reads, super_block) in pasts {
        for at in planes_of(layout, super_block) {
            reliability.set_past(at, age, reads);
        }
    }
}

/// Sets the P/E cycles that an FTL has drawn.
fn set_cycles(spec: &DriveSpec, nand: &mut Nand, ftl: &FtlFamily) {
    let Some(reliability) = nand.reliability_mut() else { return };
    let layout = spec.layout().expect(CHECKED);
    for super_block in SuperBlock::first(layout.super_blocks()) {
        for at in planes_of(&layout, super_block) {
            reliability.set_cycles(at, ftl.pe_cycles(super_block));
        }
    }
}

/// FTL of `spec` over `state`.
fn family(
    spec: &DriveSpec,
    state: PreconditionedState,
    nand: &Nand,
    streams: &Streams,
    timers: Timers,
) -> FtlFamily {
    match state {
        PreconditionedState::Page(tables) => PageFtl::new(spec, tables, nand.dies(), streams, timers).into(),
        PreconditionedState::Zoned(tables) => ZonedFtl::new(spec, tables, streams).into(),
        PreconditionedState::LogBlock(tables) => LogBlockFtl::new(spec, tables).into(),
        PreconditionedState::Namespaces(each) => {
            let specs = spec.namespaces().expect(CHECKED);
            let own = |k: u64| match k {
                0 => *streams,
                _ => Streams::new(streams.stream("namespace", k).next_u64()),
            };
            let ftl =
                |(k, (of, state)): (u64, (&DriveSpec, _))| match family(of, state, nand, &own(k), timers) {
                    FtlFamily::Page(ftl) => NamespaceFamily::Page(ftl),
                    FtlFamily::Zoned(ftl) => NamespaceFamily::Zoned(ftl),
                    FtlFamily::LogBlock(_) | FtlFamily::Namespaces(_) => {
                        unreachable!("a namespace has no log blocks and no namespaces")
                    }
                };
            let ftls = (0..).zip(specs.iter().zip(each.0)).map(ftl).collect();
            let one_namespace = spec.namespaces.is_empty();
            NamespacedFtl::new(ftls, spec.layout().expect(CHECKED), one_namespace).into()
        }
    }
}
