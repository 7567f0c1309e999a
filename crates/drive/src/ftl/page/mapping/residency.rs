//! Residency of map entries: which of them are in controller memory when a command looks them up.

use crate::ftl::Outcome;
use crate::ftl::flash::Flash;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::write_back::in_flight::{GcRead, Purpose};
use crate::numbers::{Lane, Lpn, Ppu};
use interpulse_engine::RequestId;
use interpulse_flash::nand::txn::{Kind, Txn};

/// Result of a look-up of map entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// All entries are in memory.
    Hit,
    /// The translation page with this number has to be read from flash first.
    Miss(u32),
}

/// Policy that keeps map entries in memory.
#[derive(Clone, Debug, Default)]
pub enum Residency {
    /// The full table is in memory.
    #[default]
    Full,
    /// Every n-th look-up misses: exercises the waiting path in tests.
    #[cfg(feature = "scripted-misses")]
    EveryNth {
        /// Look-ups from one miss to the next; at least 2.
        n: u32,
        /// Look-ups so far.
        looked_up: u32,
    },
}

impl Residency {
    /// Looks up the entries of `units` from `lpn`.
    #[inline(always)]
    pub fn look_up(&mut self, lpn: Lpn, units: u32) -> Lookup {
        let _ = (lpn, units);
        match self {
            Residency::Full => Lookup::Hit,
            #[cfg(feature = "scripted-misses")]
            Residency::EveryNth { n, looked_up } => {
                *looked_up += 1;
                if looked_up.is_multiple_of(*n) { Lookup::Miss(lpn.0) } else { Lookup::Hit }
            }
        }
    }
}

impl PageFtl {
    /// Whether the map entries of `units` from `lpn` are in controller memory. If not, reads their translation page;
    /// [`Outcome::Mapped`] follows, and the command looks them up again.
    #[inline(always)]
    pub fn map_entries(&mut self, flash: &mut Flash, tag: RequestId, lpn: Lpn, units: u32) -> bool {
        match self.residency.look_up(lpn, units) {
            Lookup::Hit => true,
            Lookup::Miss(page) => {
                self.read_translation_page(flash, tag, page);
                false
            }
        }
    }

    /// Translation pages lie in a region of their own, lane after lane.
    #[cold]
    fn read_translation_page(&mut self, flash: &mut Flash, tag: RequestId, page: u32) {
        let layout = &self.blocks.layout;
        let lane = Lane(page % layout.lanes);
        let (die, plane) = layout.die_of(lane);
        let mut txn = Txn::new(Kind::GcRead, die);
        txn.plane = plane as u8;
        txn.set_units(layout.units_per_page());
        let read = GcRead { lane, first_ppu: Ppu(0), mask: 0, purpose: Purpose::Map(tag) };
        txn.owner = self.jobs.reads.insert(read).0;
        flash.submit(txn);
    }

    /// A translation page has been read for the command `tag`.
    #[cold]
    pub(crate) fn translation_page_read(&mut self, tag: RequestId) {
        self.outcomes.push_back(Outcome::Mapped(tag));
    }
}

/// Replaces the residency policy of a drive's FTL, for tests.
#[cfg(feature = "scripted-misses")]
impl crate::drive::Drive {
    /// Lets every `n`-th look-up of map entries miss.
    pub fn miss_every(&mut self, n: u32) {
        self.ftl_mut().residency = Residency::EveryNth { n, looked_up: 0 };
    }
}
