//! Host commands that change units: admission of writes to the cache, trims, flushes.

use super::log_block_ftl::LogBlockFtl;
use super::map::Place;
use crate::ftl::flash::Flash;
use crate::ftl::outcome::{Admitted, Outcome};
use crate::numbers::Lpn;
use interpulse_engine::RequestId;

impl LogBlockFtl {
    /// Puts a unit of a write into the cache, or over its older data there.
    pub(super) fn admit(&mut self, lpn: Lpn) -> Admitted {
        if let Place::Cache(slot) = self.map.place(lpn)
            && self.cache.is_held(slot)
        {
            if self.versions.follows(lpn) {
                self.versions.written(lpn, slot);
            }
            return Admitted::Absorbed;
        }
        let at = self.geometry.split(lpn);
        let group = self.group_of(at.block);
        let Some(slot) = self.cache.hold(lpn, group as usize) else { return Admitted::Full };
        self.map.set(lpn, Place::Cache(slot));
        if self.versions.follows(lpn) {
            self.versions.written(lpn, slot);
        }
        let lane = self.geometry.lane(at.block);
        self.lanes[lane.index()].dirty += 1;
        if at.offset == 0 && !self.by_block() {
            self.lanes[lane.index()].starting = Some(at.block);
        }
        let ready = self.dirty.add(&self.cache, lane.index(), group, slot);
        if ready || self.programs_are_partial() {
            self.list(lane);
        }
        Admitted::Slot(slot)
    }

    /// Whether less than a program of dirty units is programmed, with padding: writes or flushes wait for it.
    #[inline]
    pub(super) fn programs_are_partial(&self) -> bool {
        self.backpressure || !self.flushes.is_empty()
    }

    /// Unmaps a unit; false if it was not mapped.
    pub(super) fn trim_unit(&mut self, lpn: Lpn) -> bool {
        match self.map.place(lpn) {
            Place::Nowhere => return false,
            Place::Cache(slot) if self.cache.is_held(slot) => {
                self.cache.drop_held(slot);
                let at = self.geometry.split(lpn);
                self.lanes[self.geometry.lane(at.block).index()].dirty -= 1;
            }
            Place::Cache(_) | Place::DataBlock | Place::Log(_) => {}
        }
        self.map.set(lpn, Place::Nowhere);
        if self.versions.follows(lpn) {
            self.versions.trimmed(lpn);
        }
        true
    }

    /// Reports whether writes wait for cache slots.
    pub(super) fn set_backpressure(&mut self, waiting: bool) {
        let begins = waiting && !self.backpressure;
        self.backpressure = waiting;
        if begins {
            self.list_dirty_lanes();
        }
    }

    /// Starts a flush.
    pub(super) fn flush(&mut self, flash: &mut Flash, tag: RequestId) {
        let epoch = self.cache.begin_flush();
        if self.cache.durable_before() > epoch {
            self.outcomes.push_back(Outcome::Flushed(tag));
            return;
        }
        self.flushes.push_back((epoch, tag));
        self.list_dirty_lanes();
        self.destage(flash);
    }

    /// Completes flushes whose data is on flash.
    pub(super) fn settle_flushes(&mut self) {
        while let Some(&(epoch, tag)) = self.flushes.front() {
            if self.cache.durable_before() <= epoch {
                break;
            }
            self.flushes.pop_front();
            self.outcomes.push_back(Outcome::Flushed(tag));
        }
    }
}
