//! Reads of logical units: one page read for neighbours on one physical page. Common to all families.

use crate::ftl::flash::Flash;
use crate::ftl::layout::FlashAddress;
use crate::numbers::{Lpn, Ppu};
use interpulse_flash::nand::txn::{Kind, Owner, Txn};

/// Result of a look-up of logical units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookupResult {
    /// Page reads submitted.
    pub reads: u32,
    /// Units in the write cache.
    pub cached: u32,
    /// Units that are unmapped.
    pub unmapped: u32,
}

/// Location of the data of a logical unit.
pub(super) enum Source {
    /// In the write cache.
    Cache,
    /// Nowhere: the unit is unmapped.
    Nothing,
    /// On flash.
    Flash(PageRead),
}

/// Neighbouring units on one physical page.
pub(super) struct PageRead {
    /// The first of them.
    pub(super) first: Ppu,
    /// Its address.
    pub(super) at: FlashAddress,
    /// Number of units.
    pub(super) count: u32,
}

/// Look-up of units, which a family provides.
pub(super) trait Sources {
    /// Finds unit `lpn`, together with the units behind it and before `to` on the same page. The version audit checks each.
    fn find(&mut self, lpn: Lpn, to: Lpn) -> Source;

    /// Submits the page read `txn` of units from `first` on.
    fn submit_read(&mut self, flash: &mut Flash, first: Ppu, txn: Txn);

    /// Answers a read of `lpn`, which is unmapped, perhaps together with units behind it and before `to`; returns their number and
    /// the page reads submitted.
    #[inline(always)]
    fn read_nothing(
        &mut self,
        _: &mut Flash,
        _owner: Owner,
        _lpn: Lpn,
        _to: Lpn,
        _early: bool,
    ) -> (u32, u32) {
        (1, 0)
    }

    /// Reads the page `of` for `owner`; `early` allows its completion to be computed ahead of time.
    #[inline(always)]
    fn read_page(&mut self, flash: &mut Flash, owner: Owner, of: &PageRead, early: bool) {
        let mut txn = Txn::new(Kind::HostRead, of.at.die);
        txn.plane = of.at.plane as u8;
        txn.block = of.at.block;
        txn.page = of.at.page;
        txn.set_units(of.count);
        txn.set_owner(owner);
        if early {
            txn.complete_early();
        }
        self.submit_read(flash, of.first, txn);
    }

    /// Reads the logical units `from..to` for `owner`, of the page reads. If a read is the only one and `early` is set,
    /// its end may be computed early.
    #[inline(never)]
    fn read_units(
        &mut self,
        flash: &mut Flash,
        owner: Owner,
        from: Lpn,
        to: Lpn,
        early: bool,
    ) -> LookupResult {
        let mut found = LookupResult::default();
        let mut lpn = from;
        while lpn < to {
            match self.find(lpn, to) {
                Source::Cache => {
                    found.cached += 1;
                    lpn += 1;
                }
                Source::Nothing => {
                    let early = early && found.reads == 0;
                    let (count, reads) = self.read_nothing(flash, owner, lpn, to, early);
                    found.unmapped += count;
                    found.reads += reads;
                    lpn += count;
                }
                Source::Flash(page) => {
                    found.reads += 1;
                    lpn += page.count;
                    self.read_page(flash, owner, &page, early && lpn == to && found.reads == 1);
                }
            }
        }
        found
    }
}
