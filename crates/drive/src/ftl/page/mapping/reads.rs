//! Reads of logical units by the page-mapped family, and waits for their map entries.

use crate::ftl::flash::Flash;
use crate::ftl::layout::UnitAt;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::mapping::lookup::Lookup;
use crate::ftl::page::mapping::residency::Residency;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::reads::{LookupResult, PageRead, Source, Sources};
use crate::numbers::{Lane, Lpn, Ppu};
use crate::owner::Owner;
use crate::spec::UnmappedReads;
use interpulse_engine::RequestId;
use interpulse_flash::ids::{BlockId, DieId};
use interpulse_flash::nand::txn::{self, Kind, Txn};

impl PageFtl {
    /// Whether the map entries of `units` from `lpn` are in controller memory. If not, reads their translation page;
    /// `Outcome::Mapped` follows, and the command looks them up again.
    #[inline(always)]
    pub fn map_entries(
        &mut self,
        flash: &mut Flash,
        tag: RequestId,
        queue: u16,
        lpn: Lpn,
        units: u32,
    ) -> bool {
        self.command_starts(flash);
        matches!(self.residency, Residency::Full) || self.look_up_entries(flash, tag, queue, lpn, units)
    }

    // Out of line: a full table in memory is the common case.
    #[inline(never)]
    fn look_up_entries(
        &mut self,
        flash: &mut Flash,
        tag: RequestId,
        queue: u16,
        lpn: Lpn,
        units: u32,
    ) -> bool {
        let BlockManager { counters, units: state, .. } = &mut self.blocks;
        match self.residency.look_up(counters, state.map(), tag, queue, lpn, units) {
            Lookup::Hit => true,
            Lookup::Miss(page) => {
                match &self.residency {
                    Residency::Cached(_) => self.map_missed(flash, tag, page),
                    _ => self.read_scripted(flash, tag, page),
                }
                false
            }
        }
    }

    /// Scripted misses charge a read of the first page of lane `page % lanes`.
    #[cold]
    fn read_scripted(&mut self, flash: &mut Flash, tag: RequestId, page: u32) {
        let layout = &self.blocks.layout;
        let lane = Lane(page % layout.lanes);
        let (die, plane) = layout.die_of(lane);
        let mut txn = Txn::new(Kind::GcRead, die);
        (txn.plane, txn.block, txn.page) = (plane as u8, BlockId(0), 0);
        txn.set_units(layout.units_per_page());
        txn.set_owner(Owner::Map(tag).into());
        flash.submit(txn);
    }

    /// Prefetches the map entry of `lpn`: the first look-up of a random address misses every CPU cache.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        self.blocks.map().prefetch(lpn);
    }

    /// Prefetches the validity words that a write of `lpn` will change.
    #[inline]
    pub fn prefetch_older(&self, lpn: Lpn) {
        if let Where::Flash(ppu) = self.blocks.map().get(lpn) {
            let UnitAt { super_block: block, offset } = self.blocks.layout.split(ppu);
            self.blocks.map().prefetch_valid(block, offset);
        }
    }

    /// Reads the logical units `from..to` for `owner`, of the page reads. Neighbouring units of one physical page share a
    /// read. If the read is the only one and `early` is set, its end may be computed early.
    #[inline(always)]
    pub fn read(
        &mut self,
        flash: &mut Flash,
        owner: txn::Owner,
        from: Lpn,
        to: Lpn,
        early: bool,
    ) -> LookupResult {
        if to.0 - from.0 == 1 {
            self.read_unit(flash, owner, from, early)
        } else {
            self.read_units(flash, owner, from, to, early)
        }
    }

    /// [`PageFtl::read`] of one unit, the most frequent case.
    #[inline(always)]
    fn read_unit(&mut self, flash: &mut Flash, owner: txn::Owner, lpn: Lpn, early: bool) -> LookupResult {
        match self.blocks.units.look_up(lpn) {
            Where::Flash(ppu) => {
                let at = self.blocks.layout.place(ppu);
                self.read_page(flash, owner, &PageRead { first: ppu, at, count: 1 }, early);
                LookupResult { reads: 1, ..LookupResult::default() }
            }
            Where::Cache(_) => LookupResult { cached: 1, ..LookupResult::default() },
            Where::Unmapped => {
                let (unmapped, reads) = self.read_nothing(flash, owner, lpn, lpn + 1, early);
                LookupResult { unmapped, reads, cached: 0 }
            }
        }
    }

    /// Whether [`PageFtl::read_done`] has to be called for each page read.
    #[inline]
    pub fn follows_reads(&self) -> bool {
        self.follows_reads
    }

    /// Notes a page read of the host from `die`, of `units` from `first` on; true if it finds data that nothing corrects.
    #[inline(never)]
    fn follow_read(&mut self, die: DieId, first: Ppu, units: u32) -> bool {
        if !self.readers.is_empty() {
            self.readers[self.blocks.layout.block_of(first).index()] += 1;
        }
        let injected = self.injected.as_mut();
        injected.is_some_and(|injected| injected.finds_lost(&self.blocks, die, first, units))
    }

    /// Completes a page read of [`PageFtl::read`]; true if its data is uncorrectable.
    #[inline]
    pub fn read_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        if self.readers.is_empty() {
            return txn.is_uncorrectable();
        }
        let super_block = self.super_block_of(txn);
        self.reader_done(flash, super_block);
        if txn.needs_reclaim() {
            self.reclaim(flash, super_block);
        }
        txn.is_uncorrectable()
    }

    /// Newest version of `lpn` if its data is on flash and nowhere else.
    pub fn version_on_flash(&self, lpn: Lpn) -> Option<u32> {
        matches!(self.blocks.map().get(lpn), Where::Flash(_)).then(|| self.blocks.units.newest_version(lpn))
    }

    /// Newest version of `lpn`, if it has data.
    pub fn version(&self, lpn: Lpn) -> Option<u32> {
        (self.blocks.map().get(lpn) != Where::Unmapped).then(|| self.blocks.units.newest_version(lpn))
    }

    /// Checks a read of `lpn` that returned a copy of `version`.
    pub fn check_version(&mut self, lpn: Lpn, version: u32) {
        assert!(self.blocks.map().get(lpn) != Where::Unmapped, "a copy of unit {lpn}, which has no data");
        self.blocks.units.check_copy(lpn, version);
    }

    /// Reads units of one page from `lpn` to before `to` that are unmapped; returns their number.
    #[cold]
    fn read_unmapped(&mut self, flash: &mut Flash, owner: txn::Owner, lpn: Lpn, to: Lpn, early: bool) -> u32 {
        let BlockManager { layout, units, .. } = &mut self.blocks;
        let page = layout.units_per_page();
        let mut count = 1;
        while lpn + count < to
            && !(lpn.0 + count).is_multiple_of(page)
            && units.map().get(lpn + count) == Where::Unmapped
        {
            units.look_up(lpn + count);
            count += 1;
        }
        let lane = match &self.write_back.stripe {
            Some(stripe) => stripe.lane(lpn),
            None => Lane(lpn.0 / page % layout.lanes),
        };
        let (die, plane) = layout.die_of(lane);
        // The transaction names no block: none holds the units. Its page is the first one of a word line.
        let mut txn = Txn::new(Kind::HostRead, die);
        txn.plane = plane as u8;
        txn.set_units(count);
        txn.set_owner(owner);
        if early && lpn + count == to {
            txn.complete_early();
        }
        flash.submit(txn);
        count
    }

    /// Whether a fail-fast read of `units` from `lpn` on would wait now.
    #[cold]
    pub fn waits_for_collection(&self, flash: &Flash, lpn: Lpn, units: u32) -> bool {
        let now = flash.now();
        lpn.until(lpn + units).any(|lpn| match self.blocks.map().get(lpn) {
            Where::Flash(ppu) => flash.nand.read_fails_fast(self.blocks.layout.place(ppu).die, now),
            Where::Cache(_) | Where::Unmapped => false,
        })
    }
}

impl Sources for PageFtl {
    #[inline(always)]
    fn read_nothing(
        &mut self,
        flash: &mut Flash,
        owner: txn::Owner,
        lpn: Lpn,
        to: Lpn,
        early: bool,
    ) -> (u32, u32) {
        match self.unmapped_reads {
            UnmappedReads::Zeroes => (1, 0),
            UnmappedReads::Flash => (self.read_unmapped(flash, owner, lpn, to, early), 1),
        }
    }

    #[inline(always)]
    fn find(&mut self, lpn: Lpn, to: Lpn) -> Source {
        let BlockManager { layout, units, .. } = &mut self.blocks;
        let first = match units.look_up(lpn) {
            Where::Flash(ppu) => ppu,
            Where::Cache(_) => return Source::Cache,
            Where::Unmapped => return Source::Nothing,
        };
        let at = layout.place(first);
        let room = layout.units_per_page() - at.unit;
        let mut count = 1;
        while count < room && lpn + count < to && units.map().get(lpn + count) == Where::Flash(first + count)
        {
            units.look_up(lpn + count);
            count += 1;
        }
        Source::Flash(PageRead { first, at, count })
    }

    #[inline(always)]
    fn submit_read(&mut self, flash: &mut Flash, first: Ppu, mut txn: Txn) {
        txn.set_cell_mode(self.blocks.cell_mode_at(first));
        if self.follows_reads && self.follow_read(txn.die, first, txn.units()) {
            txn.set_lost();
        }
        flash.submit(txn);
    }
}
