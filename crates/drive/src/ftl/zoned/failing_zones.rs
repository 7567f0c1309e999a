//! Zones that become Offline or Read Only because blocks fail.
//!
//! A reserved block of its lane (`ftl.bad-block-reserve`) replaces a super block whose erase fails. Without one the block is
//! retired, if the other blocks of the lane hold all zones. If they do not, a zone of the lane that is Empty becomes Offline. If
//! no zone is Empty, the block stays in use for what the write cache has taken: the zone that takes it becomes Read Only.

use super::geometry::ZoneOffset;
use super::state::ZoneState;
use super::zoned_ftl::ZonedFtl;
use crate::ftl::flash::Flash;
use crate::numbers::{Lane, Lpn, SuperBlock};
use interpulse_engine::Status;
use interpulse_flash::geometry::BlockAddress;

impl ZonedFtl {
    /// Decides the outcome of the erase of `block` that has just ended, and what becomes of a block that failed.
    #[cold]
    pub(super) fn settle_erase(&mut self, flash: &mut Flash, block: SuperBlock) {
        let failures = self.failures.as_mut().expect("the caller has checked it");
        let (lane, of_plane) = self.layout.lane_of(block);
        let cycles = self.blocks.cycles[block.index()];
        if !failures.kept[block.index()] {
            if !failures.bad_blocks.erase_fails(block, cycles, false) {
                return;
            }
            if failures.bad_blocks.take_spare(lane, block, cycles) {
                self.blocks.cycles[block.index()] = 0;
                if let Some(reliability) = flash.nand.reliability_mut() {
                    let (die, first) = self.layout.die_of(lane);
                    for plane in first..first + self.layout.planes {
                        reliability.set_cycles(BlockAddress { die, plane, block: of_plane }, 0);
                    }
                }
                return;
            }
        }
        let retires = self.lane_can_lose_a_block(lane) || self.take_a_zone_offline(lane);
        let failures = self.failures.as_mut().expect("as above");
        failures.kept[block.index()] = !retires;
        if retires {
            failures.retired[lane.index()] += 1;
            self.blocks.retire(&self.layout, block);
        }
    }

    /// Whether the other blocks of a lane hold all its zones that are not Offline.
    fn lane_can_lose_a_block(&self, lane: Lane) -> bool {
        let retired = self.failures.as_ref().expect("blocks can fail").retired[lane.index()];
        let online = |&zone: &u32| self.states.of(zone).state != ZoneState::Offline;
        let zones = self.geometry.zones_of(lane).filter(online).count() as u32;
        self.layout.blocks - retired > self.geometry.rows * zones
    }

    /// Makes the last Empty zone of a lane Offline; false if there is none.
    fn take_a_zone_offline(&mut self, lane: Lane) -> bool {
        let is_empty = |zone: &u32| self.states.of(*zone).state == ZoneState::Empty;
        let Some(zone) = self.geometry.zones_of(lane).rev().find(is_empty) else { return false };
        self.states.take_offline(zone);
        true
    }

    /// Makes a zone Read Only that has taken a block which has failed.
    #[cold]
    pub(super) fn block_taken(&mut self, zone: u32, block: SuperBlock) {
        let kept = self.failures.as_ref().is_some_and(|of| of.kept[block.index()]);
        if kept && !self.states.of(zone).state.has_failed() {
            self.states.end_writes(zone, ZoneState::ReadOnly);
            // Its last program is padded once all its data has arrived.
            self.zones[zone as usize].is_finished = true;
        }
    }

    /// Whether none of the zones of the units `from..to` is Offline.
    #[cold]
    pub(super) fn all_online(&self, from: Lpn, to: Lpn) -> Result<(), Status> {
        let ZoneOffset { zone: first, .. } = self.geometry.split(from);
        let ZoneOffset { zone: last, .. } = self.geometry.split(Lpn(to.0.max(from.0 + 1) - 1));
        let is_offline = |zone: u32| self.states.of(zone).state == ZoneState::Offline;
        let status = if self.chunks { Status::OfflineChunk } else { Status::ZoneIsOffline };
        if (first..=last).any(is_offline) { Err(status) } else { Ok(()) }
    }
}
