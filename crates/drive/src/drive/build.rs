//! Assembling a drive from its spec and a preconditioned FTL.

use super::outage::Outage;
use super::{Drive, OWN_LINES};
use crate::ftl::{Ftl, Tables, Timers};
use crate::host::line::Line;
use crate::host::link::{COMPLETION_BYTES, Direction, SUBMISSION_BYTES};
use crate::host::queues::Queues;
use crate::spec::DriveSpec;
use interpulse_engine::{ResourceId, Streams};
use interpulse_flash::geometry::BlockAddress;
use interpulse_flash::nand::Nand;
use std::collections::VecDeque;

/// The tables of an FTL ready to run: fresh, or preconditioned. Cloning it copies the maps.
#[derive(Clone)]
pub struct PreconditionedState {
    /// Its tables.
    pub ftl: Tables,
}

impl Drive {
    /// A drive over `state` whose resources begin at `first`, with so many timers of its host among them. Panics if the
    /// spec was not [checked](DriveSpec::check) or the state belongs to another geometry.
    pub fn new(
        spec: DriveSpec,
        state: PreconditionedState,
        seed: u64,
        first: ResourceId,
        host_timers: u32,
    ) -> Drive {
        let streams = Streams::new(seed);
        let tables = state.ftl;
        let mut nand = Nand::new(spec.geometry.clone(), &spec.part, spec.nand.clone(), seed, first);
        let pages = tables.layout.pages_per_program;
        for (super_block, programs) in tables.programs_done().into_iter().enumerate() {
            let (lane, block) = tables.layout.lane_of(super_block as u32);
            let (die, plane) = tables.layout.die_of(lane);
            let blocks = nand.dies_mut()[die as usize].blocks_mut();
            for p in plane..plane + tables.layout.planes {
                blocks.set_programmed(p, block, (programs * pages) as u16);
            }
        }
        if let Some(reliability) = nand.reliability_mut() {
            for super_block in 0..tables.layout.super_blocks() {
                let (lane, block) = tables.layout.lane_of(super_block);
                let (die, plane) = tables.layout.die_of(lane);
                for p in plane..plane + tables.layout.planes {
                    let at = BlockAddress { die, plane: p, block };
                    reliability.set_cycles(at, tables.cycles[super_block as usize]);
                }
            }
        }
        let flash_resources = Nand::resources(&spec.geometry);
        let own = |k: u32| ResourceId(first.0 + flash_resources + k);
        debug_assert_eq!(OWN_LINES, 4);
        let (link_in, link_out) = (Direction::new(&spec.host.link), Direction::new(&spec.host.link));
        let later = OWN_LINES + host_timers;
        let power = u32::from(spec.refreshes());
        let timers = Timers { patrol: own(later), checkpoint: own(later + power + 1) };
        let ftl = Ftl::new(&spec, tables, nand.dies(), &streams, timers);
        Drive {
            nand,
            queues: Queues::new(
                &spec.host.queue_weights,
                spec.host.queue_depth,
                spec.host.arbitration,
                spec.host.frame_buffer,
            ),
            submission_time: link_in.time(SUBMISSION_BYTES),
            completion_time: link_out.time(COMPLETION_BYTES),
            link_in,
            link_out,
            firmware: Line::new(own(0)),
            arriving: Line::new(own(1)),
            dram: Line::new(own(2)),
            leaving: Line::new(own(3)),
            unit_shift: (spec.geometry.unit_bytes / 512).ilog2(),
            first: first.0,
            flash_resources,
            host_timers,
            requests: Default::default(),
            news: None,
            stalled: VecDeque::new(),
            outage: spec.power_loss.map(Outage::new),
            issued: 0,
            completed: 0,
            closed: false,
            counters: Default::default(),
            ftl,
            spec,
        }
    }
}
