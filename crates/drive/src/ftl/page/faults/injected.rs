//! Faults that wait for an operation, and what faults have left behind.

use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::faults::lost_data::LostData;
use crate::numbers::Ppu;
use crate::spec::DriveSpec;
use interpulse_engine::{Rng, Streams};
use interpulse_flash::DieId;

/// Faults that wait for an operation, and what faults have left behind.
pub(crate) struct InjectedFaults {
    /// Dies whose next program fails; `None` for any die.
    pub(super) programs: Vec<Option<u32>>,
    /// Dies whose next erase fails; `None` for any die.
    pub(super) erases: Vec<Option<u32>>,
    /// Dies whose next page read of the host finds uncorrectable data.
    pub(super) reads: Vec<u32>,
    /// Threshold of [`Rng::chance`] for each page read of the host.
    uncorrectable: u64,
    rng: Rng,
    pub(crate) lost: LostData,
    /// Dies that have failed.
    pub(crate) dead_dies: u64,
}

/// Takes the first fault that waits for an operation of `die`.
fn take(of: &mut Vec<Option<u32>>, die: DieId) -> bool {
    let at = of.iter().position(|wanted| wanted.is_none_or(|wanted| wanted == die.0));
    at.map(|at| of.remove(at)).is_some()
}

impl InjectedFaults {
    /// Faults of a drive with the checked `spec`; `None` if its configuration has none.
    pub(crate) fn new(
        spec: &DriveSpec,
        blocks: &BlockManager,
        streams: &Streams,
    ) -> Option<Box<InjectedFaults>> {
        let random = spec.faults.map_or(0.0, |faults| faults.uncorrectable_read);
        spec.injects_into_flash().then(|| {
            Box::new(InjectedFaults {
                programs: Vec::new(),
                erases: Vec::new(),
                reads: Vec::new(),
                uncorrectable: Rng::threshold(random),
                rng: streams.stream("ftl.uncorrectable", 0),
                lost: LostData::new(blocks.config().logical_units),
                dead_dies: 0,
            })
        })
    }

    /// Whether the program of `die` that has just ended fails by a scheduled fault.
    pub(crate) fn fails_program(&mut self, die: DieId) -> bool {
        take(&mut self.programs, die)
    }

    /// Whether the erase of `die` that has just ended fails by a scheduled fault.
    pub(crate) fn fails_erase(&mut self, die: DieId) -> bool {
        take(&mut self.erases, die)
    }

    /// Whether a page read of the host from `die`, of `units` from `first` on, finds data that nothing corrects.
    // Not of the transaction: a reference to it would keep it in memory, with or without faults.
    #[cold]
    #[inline(never)]
    pub(crate) fn finds_lost(&mut self, blocks: &BlockManager, die: DieId, first: Ppu, units: u32) -> bool {
        let units = (0..units).map(|k| blocks.map().logical(first + k));
        let next = self.reads.iter().position(|&of| of == die.0);
        if let Some(at) = next {
            self.reads.remove(at);
        }
        if next.is_some() || self.uncorrectable > 0 && self.rng.chance(self.uncorrectable) {
            units.clone().for_each(|lpn| self.lost.lose(lpn));
        }
        let finds = units.clone().any(|lpn| self.lost.is_lost(lpn));
        self.lost.reads += u64::from(finds);
        finds
    }
}
