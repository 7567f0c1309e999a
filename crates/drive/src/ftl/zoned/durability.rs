//! What a zoned drive keeps against a loss of power: spare bytes of its pages, data that flushes have saved.

use super::geometry::ZoneGeometry;
use crate::ftl::block_pool::NO_BLOCK;
use crate::ftl::layout::Layout;
use crate::ftl::page::power_loss::metadata_region::MetadataWritten;
use crate::ftl::page::power_loss::oob::{Oob, Spare};
use crate::numbers::{GroupId, Lane, SuperBlock};
use interpulse_engine::{RequestId, Slab};
use std::collections::VecDeque;

/// Units of a zone that a flush makes durable.
#[derive(Clone, Copy, Debug)]
pub(super) struct ZoneFlush {
    pub(super) zone: u32,
    /// Resets of the zone; one more ends the wait.
    pub(super) generation: u32,
    /// First unit of the program that is not complete.
    pub(super) from: u32,
    /// Units from the start of the zone.
    pub(super) end: u32,
}

/// What a zoned drive keeps against a loss of power.
pub(super) struct ZonePowerLoss {
    /// The cache survives.
    pub(super) protected: bool,
    pub(super) oob: Oob,
    /// Units of each zone that flushes have saved, as ranges of offsets in order, until they are in programs that have ended.
    pub(super) saved: Vec<Vec<(u32, u32)>>,
    /// Saves in progress, each with its programs left.
    pub(super) saves: Slab<GroupId, (Vec<ZoneFlush>, u64)>,
    pub(super) next_lane: Lane,
    pub(super) written: MetadataWritten,
    /// Flushes waiting for their data, in order.
    pub(super) flushes: VecDeque<(RequestId, Vec<ZoneFlush>)>,
    /// Super blocks that must be erased before the drive serves the host.
    pub(super) erase: Vec<SuperBlock>,
    /// The drive recovers.
    pub(super) refilling: bool,
}

impl ZonePowerLoss {
    /// State of a drive whose zones are full with the super blocks `blocks`, or empty.
    pub(super) fn new(
        protected: bool,
        layout: &Layout,
        geometry: &ZoneGeometry,
        blocks: &[Vec<SuperBlock>],
    ) -> ZonePowerLoss {
        let mut oob = Oob::new(layout.units() as u32);
        for (zone, blocks) in (0..geometry.zones).zip(blocks) {
            if blocks[0] != NO_BLOCK {
                (0..geometry.units / geometry.program).for_each(|program| {
                    let block = blocks[geometry.place(program).block];
                    describe(&mut oob, layout, geometry, zone, 0, program, block);
                });
            }
        }
        ZonePowerLoss {
            protected,
            oob,
            saved: vec![Vec::new(); geometry.zones as usize],
            saves: Slab::default(),
            next_lane: Lane(0),
            written: MetadataWritten::default(),
            flushes: VecDeque::new(),
            erase: Vec::new(),
            refilling: false,
        }
    }
}

/// Writes the spare bytes of a zone's program in `block`.
pub(super) fn describe(
    oob: &mut Oob,
    layout: &Layout,
    geometry: &ZoneGeometry,
    zone: u32,
    generation: u32,
    program: u32,
    block: SuperBlock,
) {
    let (place, written) = (geometry.place(program), oob.program());
    for k in 0..geometry.program {
        let lpn = geometry.first(zone) + (program * geometry.program + k);
        oob.write(
            layout.unit(geometry.unit_at(block, place, k)),
            Spare { lpn, version: generation, written },
        );
    }
}
