//! Victim policies. A policy is one file here, with keys of its own if it has any, and one registry line.

use crate::ftl::page::mapping::table::Map;
use crate::numbers::SuperBlock;
use interpulse_engine::Rng;
use interpulse_settings::{choices, registry};
use std::ops::Range;

pub use d_choices::DChoices;
pub use imposed::Imposed;

registry! {
    $ /// The victim policies. Each is a rule over the closed blocks of one lane.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum GcPolicy, each_policy {
        "greedy" => greedy::Greedy: "the block with the fewest valid units";
        "d-choices" => d_choices::DChoices(it): "the emptiest of gc-choices closed blocks drawn at random";
        "fifo" => fifo::Fifo: "the block that was filled longest ago";
        "cost-benefit" => cost_benefit::CostBenefit: "the largest age x (1 - u) / 2u, u being the valid share";
        "imposed" => imposed::Imposed(it): "a stated write amplification becomes extra programs with their reads, without victims";
    }
}

/// The blocks of a lane, by number.
struct Blocks<'a> {
    /// Valid units of each, with [`Map::NOT_A_CANDIDATE`] where it may not be collected.
    weights: &'a [u32],
    /// When each was closed.
    closed: &'a [u64],
    /// The next such number.
    clock: u64,
    /// Units of a block.
    units: u32,
}

impl<'a> Blocks<'a> {
    /// Those that may be collected: number, valid units, and when it was closed.
    fn candidates(&self) -> impl Iterator<Item = (usize, u32, u64)> + use<'a> {
        let pairs = self.weights.iter().zip(self.closed).enumerate();
        pairs.filter(|(_, (w, _))| is_candidate(**w)).map(|(i, (w, c))| (i, *w, *c))
    }
}

/// Whether a block of this weight may be collected.
fn is_candidate(weight: u32) -> bool {
    weight & Map::NOT_A_CANDIDATE == 0
}

/// A rule over the closed blocks of a lane.
trait VictimPolicy {
    /// The number of the victim, or `None` if no block may be collected.
    fn victim(&self, blocks: &Blocks, rng: &mut Rng) -> Option<usize>;
}

impl GcPolicy {
    /// Picks a victim among the blocks `range` of a lane, or `None` if none may be collected.
    ///
    /// `closed` gives when each block was closed, `clock` is the next such number.
    pub fn select(
        self,
        map: &Map,
        closed: &[u64],
        clock: u64,
        range: Range<SuperBlock>,
        units_per_block: u32,
        rng: &mut Rng,
    ) -> Option<SuperBlock> {
        let of = range.start.index()..range.end.index();
        let blocks =
            Blocks { weights: &map.weight[of.clone()], closed: &closed[of], clock, units: units_per_block };
        let number = each_policy!(self, it => it.victim(&blocks, rng))?;
        Some(range.start + number as u32)
    }
}

choices! {
    /// What of a lane is free, where a threshold asks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FreeCount {
        /// erased blocks
        Blocks = "blocks",
        /// free pages, those of open blocks included
        Pages = "pages",
        /// a count that each program takes its pages from and each erase adds a whole block to (SSDSim): the page of a word line
        /// that its two-bit program passes over is never taken from it
        RunningPages = "running-pages",
    }
}

choices! {
    /// What a threshold is a share of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ThresholdBase {
        /// a share of all blocks
        Blocks = "blocks",
        /// a share of the blocks beyond those the logical capacity fills
        Spare = "spare",
    }
}
