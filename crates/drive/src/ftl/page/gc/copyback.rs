//! Keys and state of copyback: pages that wait to be copied inside their planes, and how often the data of each has been.

use crate::ftl::layout::Layout;
use crate::numbers::{Lane, Ppu, SuperBlock};
use interpulse_settings::{ConfigError, Section, default, keys};
use std::collections::VecDeque;

keys! {
    /// Moves by copyback.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CopybackSpec, fn keys(s) {
        /// copybacks of the same data in succession, after which it goes through the controller, which corrects its errors
        pub limit: u32 = ["copyback-limit"] u32(default(4).within(1..=255)),
    }
}

impl CopybackSpec {
    /// Reads the keys of copyback from the section `[ftl]`; `None` if it is off.
    pub fn read(ftl: &mut Section) -> Result<Option<CopybackSpec>, ConfigError> {
        let doc = "whether garbage collection and folding move whole pages by copyback, without the channel";
        let on = ftl.bool("copyback", doc, default(false))?;
        ftl.when(on, "copyback = true", CopybackSpec::keys)
    }
}

/// Pages to be copied, and how often the data of each page has been.
pub(crate) struct Copybacks {
    pub(super) limit: u8,
    /// Copybacks of the data of each page of the drive since it last went through the controller.
    pub(super) generations: Vec<u8>,
    pub(super) lanes: Vec<LaneCopies>,
    pub(super) pages_per_program: usize,
    pub(super) units_per_page: u32,
}

/// First unit of each page of a lane that waits to be copied, by plane.
pub(super) struct LaneCopies(pub(super) Vec<VecDeque<Ppu>>);

impl Copybacks {
    pub(crate) fn new(spec: CopybackSpec, layout: &Layout) -> Copybacks {
        let planes = layout.planes as usize;
        Copybacks {
            limit: spec.limit as u8,
            generations: vec![0; (layout.units() / u64::from(layout.units_per_page())) as usize],
            lanes: (0..layout.lanes).map(|_| LaneCopies(vec![VecDeque::new(); planes])).collect(),
            pages_per_program: layout.pages_per_program as usize,
            units_per_page: layout.units_per_page(),
        }
    }

    /// Pages of `lane` that wait.
    #[cold]
    #[inline(never)]
    pub(super) fn waiting(&self, lane: Lane) -> u32 {
        self.lanes[lane.index()].0.iter().map(|plane| plane.len() as u32).sum()
    }

    /// Programs of `lane` that have all their pages.
    pub(super) fn ready(&self, lane: Lane) -> usize {
        let shortest = self.lanes[lane.index()].0.iter().map(VecDeque::len).min();
        shortest.unwrap_or(0) / self.pages_per_program
    }

    /// Whether `depth` programs of `lane` wait, so that no other page needs to be looked at.
    #[cold]
    #[inline(never)]
    pub(super) fn is_full(&self, lane: Lane, depth: u32) -> bool {
        self.ready(lane) >= depth as usize
    }

    /// Notes an erase: the data of the block is gone.
    pub(super) fn erased(&mut self, layout: &Layout, super_block: SuperBlock) {
        let first = self.page(layout.first_unit(super_block));
        let pages = (layout.units_per_block / self.units_per_page) as usize;
        self.generations[first..first + pages].fill(0);
    }

    /// Forgets what waits. The generation of a page is in its out-of-band data.
    pub(crate) fn lose_power(&mut self) {
        self.lanes.iter_mut().flat_map(|lane| &mut lane.0).for_each(VecDeque::clear);
    }

    /// Number of the page of a unit.
    pub(super) fn page(&self, ppu: Ppu) -> usize {
        (ppu.0 / self.units_per_page) as usize
    }
}
