//! Flush of the mapping cache for a checkpoint, and the mapping cache after a power cut.
//!
//! All entries that differ from their translation page when a checkpoint begins are programmed before its directory is written.
//! Pages enter the write-back buffer a batch at a time, so that look-ups do not wait for the whole flush.

use super::flush_state::{Flush, PageFlush};
use super::{CachedMap, IDLE, Progress, WriteBuffer};
use crate::ftl::flash::Flash;
use crate::ftl::page::mapping::residency::Residency;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::Lpn;
use std::ops::Range;

impl PageFtl {
    /// Begins the flush for a checkpoint. Returns whether the checkpoint has to wait for it.
    pub(crate) fn flush_map(&mut self, flash: &mut Flash) -> bool {
        let Residency::Cached(cached) = &mut self.residency else { return false };
        cached.begin_flush();
        self.write_map_back(flash);
        !self.cached().take_flushed()
    }

    /// Resumes write-back after recovery.
    pub(crate) fn restart_map(&mut self, flash: &mut Flash) {
        if let Residency::Cached(_) = &self.residency {
            self.write_map_back(flash);
        }
    }
}

impl CachedMap {
    /// Number of units of the host, which is the unit of the first translation page.
    pub(crate) fn host_units(&self) -> Lpn {
        Lpn(self.logical)
    }

    /// Unit of each translation page and the host units whose entries it holds.
    pub(crate) fn pages_and_units(&self) -> impl Iterator<Item = (Lpn, Range<Lpn>)> {
        (0..self.pages.len() as u32).map(|page| (self.unit(page), self.entries_of(page)))
    }

    /// Whether memory holds changes of each translation page.
    pub(crate) fn pages_in_memory(&self) -> impl Iterator<Item = bool> {
        (0..).zip(&self.pages).map(|(page, of)| of.progress != Progress::Idle || self.is_changed(page))
    }

    fn begin_flush(&mut self) {
        self.flush.active = true;
        for page in 0..self.pages.len() as u32 {
            let changed = self.is_changed(page);
            let of = &mut self.pages[page as usize];
            of.flush = match of.progress {
                Progress::Idle if !changed => PageFlush::None,
                Progress::Programming if !changed && !of.again => PageFlush::Begun,
                _ => PageFlush::Due,
            };
            self.flush.pages += u32::from(of.flush != PageFlush::None);
            if of.flush == PageFlush::Due && changed {
                self.flush.cached.push_back(page);
            }
        }
    }

    /// Whether the cache holds changed entries of `page`.
    fn is_changed(&self, page: u32) -> bool {
        let of = self.entries_of(page);
        let last = (of.end.0 - 1) >> self.object_shift;
        (of.start.0 >> self.object_shift..=last).any(|object| self.residents.is_dirty(object))
    }

    /// Whether pages of a flush are on their way to flash.
    #[inline]
    pub(super) fn is_flushing(&self) -> bool {
        self.flush.pages > 0
    }

    /// Moves changed pages of a flush to the write-back buffer until it has a batch.
    #[inline]
    pub(super) fn feed_flush(&mut self) {
        while self.buffer.waiting < self.batch
            && let Some(page) = self.flush.cached.pop_front()
        {
            let of = self.pages[page as usize];
            let absent = of.progress == Progress::Idle || of.progress == Progress::Programming && !of.again;
            if of.flush == PageFlush::Due && absent {
                self.add(page, !self.spec.format.holds_entries());
            }
        }
    }

    /// Notes that the program of `page` begins.
    pub(super) fn flush_begins(&mut self, page: u32) {
        let of = &mut self.pages[page as usize].flush;
        if *of == PageFlush::Due {
            *of = PageFlush::Begun;
        }
    }

    /// Notes that the program of `page` has ended.
    pub(super) fn flush_ended(&mut self, page: u32) {
        let of = &mut self.pages[page as usize].flush;
        if *of == PageFlush::Begun {
            *of = PageFlush::None;
            self.flush.pages -= 1;
        }
    }

    /// Whether a flush has ended since the last call.
    pub(super) fn take_flushed(&mut self) -> bool {
        self.flush.pages == 0 && std::mem::take(&mut self.flush.active)
    }

    /// Drops everything in memory.
    pub(crate) fn lose_power(&mut self) {
        self.residents.clear();
        self.pages.fill(IDLE);
        self.stalled.clear();
        self.resumed.clear();
        self.changing.clear();
        self.buffer = WriteBuffer { next_lane: self.buffer.next_lane, ..WriteBuffer::default() };
        self.flush = Flush::default();
    }

    /// Adds the entry of `lpn`, which recovery found, to the changes to be written.
    pub(crate) fn recovered(&mut self, lpn: Lpn) {
        self.add(self.page_of(lpn), false);
    }
}
