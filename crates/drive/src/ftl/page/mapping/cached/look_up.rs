//! Misses: reads of translation pages, and the commands that wait for them.

use super::{CachedMap, NOBODY, Progress, Resumed};
use crate::ftl::flash::Flash;
use crate::ftl::outcome::Outcome;
use crate::ftl::page::mapping::residency::Residency;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::TranslationPage;
use crate::owner::Owner;
use interpulse_engine::RequestId;
use interpulse_flash::nand::txn::{Kind, Txn};

impl PageFtl {
    /// Mapping cache, which the drive has.
    pub(super) fn cached(&mut self) -> &mut CachedMap {
        let Residency::Cached(cached) = &mut self.residency else {
            unreachable!("the full table is in memory")
        };
        cached
    }

    /// Lets the command `tag`, whose look-up missed `page`, wait for it.
    #[cold]
    pub(in crate::ftl::page::mapping) fn map_missed(&mut self, flash: &mut Flash, tag: RequestId, page: u32) {
        let cached = self.cached();
        let of = cached.pages[page as usize];
        if !of.reading && cached.is_full() {
            cached.stalled.push_back(tag);
            self.blocks.counters.map_stalls += 1;
            self.write_map_back(flash);
            return;
        }
        cached.join(page, tag);
        if of.reading {
            return;
        }
        self.blocks.counters.map_reads += 1;
        self.read_translation_page(flash, page, Some(tag));
        self.prefetch_pages(flash, page, tag);
        self.write_map_back(flash);
    }

    /// Reads the translation pages behind `page`, which `tag` waits for, that nothing holds.
    fn prefetch_pages(&mut self, flash: &mut Flash, page: u32, tag: RequestId) {
        let cached = self.cached();
        let part = cached.part(cached.waiting[tag.index()].queue);
        if cached.spec.prefetch == 0 || cached.spec.format.holds_entries() {
            return;
        }
        let end = page.saturating_add(1 + cached.spec.prefetch).min(cached.pages.len() as u32);
        for page in page + 1..end {
            let Residency::Cached(cached) = &mut self.residency else { return };
            let of = &mut cached.pages[page as usize];
            let idle = of.progress == Progress::Idle && !of.reading;
            if idle && !cached.residents.holds(page) && cached.is_on_flash(self.blocks.map(), page) {
                let of = &mut cached.pages[page as usize];
                (of.prefetching, of.part) = (true, part);
                self.blocks.counters.map_prefetches += 1;
                self.read_translation_page(flash, page, None);
            }
        }
    }

    /// Reads translation page `page`, which is on flash, for the command `tag` or for the FTL.
    pub(super) fn read_translation_page(&mut self, flash: &mut Flash, page: u32, tag: Option<RequestId>) {
        let cached = self.cached();
        cached.pages[page as usize].reading = true;
        let unit = cached.unit(page);
        let Where::Flash(ppu) = self.blocks.map().get(unit) else {
            unreachable!("page {page} is not on flash")
        };
        let at = self.blocks.layout.place(ppu);
        // A command waits as for its data: the read suspends what a read of the host suspends.
        let mut txn = Txn::new(if tag.is_some() { Kind::HostRead } else { Kind::GcRead }, at.die);
        (txn.plane, txn.block, txn.page) = (at.plane as u8, at.block, at.page);
        let part = tag.is_some() && self.cached().spec.read_transfer.is_some();
        txn.set_units(if part { Txn::PART_OF_UNIT } else { 1 });
        txn.set_cell_mode(self.blocks.cell_mode_at(ppu));
        txn.set_owner(tag.map_or(Owner::Translation(TranslationPage(page)), Owner::Map).into());
        if !self.readers.is_empty() {
            self.readers[self.blocks.layout.block_of(ppu).index()] += 1;
        }
        flash.submit(txn);
    }

    /// Completes the read `txn` of the translation page that the command `tag` waits for.
    #[cold]
    pub fn map_read_done(&mut self, flash: &mut Flash, tag: RequestId, txn: &Txn) {
        match &self.residency {
            Residency::Cached(cached) => {
                let page = cached.waiting[tag.index()].page;
                self.translation_page_read(flash, TranslationPage(page), txn);
            }
            _ => self.outcomes.push_back(Outcome::Mapped(tag)),
        }
    }

    /// Completes the read `txn` of translation page `page`: inserts it, resumes commands, prepares its write-back.
    #[cold]
    pub fn translation_page_read(&mut self, flash: &mut Flash, page: TranslationPage, txn: &Txn) {
        if !self.readers.is_empty() {
            let super_block = self.super_block_of(txn);
            self.reader_done(flash, super_block);
            if txn.needs_reclaim() {
                self.reclaim(flash, super_block);
            }
        }
        let Residency::Cached(cached) = &mut self.residency else {
            unreachable!("a read of the mapping cache")
        };
        let map = self.blocks.map();
        let page = page.0;
        let of = &mut cached.pages[page as usize];
        of.reading = false;
        let (prefetched, part) = (std::mem::take(&mut of.prefetching), of.part);
        let mut tag = std::mem::replace(&mut of.first, NOBODY);
        // A part that a miss has read does not prepare a write-back.
        let read_again = of.progress == Progress::Preparing && txn.units() == Txn::PART_OF_UNIT;
        if of.progress == Progress::Preparing && !read_again {
            of.progress = Progress::Ready;
            cached.buffer.preparing -= 1;
            cached.buffer.ready.push_back(page);
        }
        if prefetched && tag == NOBODY {
            let first = cached.entries_of(page).start;
            cached.keep(map, part, page, first, first + 1);
        }
        while tag != NOBODY {
            let of = cached.waiting[tag.index()];
            cached.keep(map, cached.part(of.queue), page, of.from, of.to);
            cached.resumed.push_back(Resumed { tag, page: page + 1, counted: false });
            self.outcomes.push_back(Outcome::Mapped(tag));
            tag = of.next;
        }
        if read_again {
            self.blocks.counters.map_update_reads += 1;
            self.read_translation_page(flash, page, None);
        }
        self.write_map_back(flash);
        self.resume_stalled();
    }

    /// Lets commands look up again that waited for room in the write-back buffer.
    pub(super) fn resume_stalled(&mut self) {
        let Residency::Cached(cached) = &mut self.residency else { return };
        if cached.is_full() {
            return;
        }
        while let Some(tag) = cached.stalled.pop_front() {
            let page = cached.waiting[tag.index()].page;
            cached.resumed.push_back(Resumed { tag, page, counted: true });
            self.outcomes.push_back(Outcome::Mapped(tag));
        }
    }
}

impl CachedMap {
    /// Adds the command `tag` to those that wait for the read of `page`.
    fn join(&mut self, page: u32, tag: RequestId) {
        let mut last = self.pages[page as usize].first;
        if last == NOBODY {
            self.pages[page as usize].first = tag;
            return;
        }
        while self.waiting[last.index()].next != NOBODY {
            last = self.waiting[last.index()].next;
        }
        self.waiting[last.index()].next = tag;
    }
}
