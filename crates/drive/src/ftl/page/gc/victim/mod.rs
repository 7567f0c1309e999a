//! Victim policies: one file and one registry line for each policy, with its own keys if it has any.

use crate::ftl::page::mapping::table::Map;
use crate::numbers::SuperBlock;
use interpulse_engine::Rng;
use interpulse_settings::{choices, registry};
use std::ops::Range;

pub use d_choices::DChoices;
pub use imposed::Imposed;
pub use windowed_greedy::WindowedGreedy;

registry! {
    $ /// The victim policies. Each is a rule over the closed blocks of one lane.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum GcPolicy, each_policy {
        "greedy" => greedy::Greedy: "the block with the fewest valid units";
        "d-choices" => d_choices::DChoices(it): "the emptiest of gc-choices closed blocks drawn at random; also called random-greedy";
        "random" => random::Random: "a closed block drawn at random";
        "fifo" => fifo::Fifo: "the block that was filled longest ago";
        "windowed-greedy" => windowed_greedy::WindowedGreedy(it): "the emptiest of the gc-oldest blocks filled longest ago";
        "cost-benefit" => cost_benefit::CostBenefit: "the largest age x (1 - u) / 2u, u being the valid share";
        "cost-age-time" => cost_age_time::CostAgeTime: "the smallest u / (1 - u) x (erases + 1) / age";
        "imposed" => imposed::Imposed(it): "a stated write amplification becomes extra programs with their reads, without victims";
    }
}

struct Blocks<'a> {
    /// Valid units of each block, with [`Map::NOT_A_CANDIDATE`] where it may not be collected.
    weights: &'a [u32],
    /// Close number of each block.
    closed: &'a [u64],
    /// P/E cycles of each block.
    cycles: &'a [u32],
    /// Next close number.
    clock: u64,
    units: u32,
}

impl<'a> Blocks<'a> {
    /// Blocks that may be collected: number, valid units, close number.
    fn candidates(&self) -> impl Iterator<Item = (usize, u32, u64)> + use<'a> {
        let pairs = self.weights.iter().zip(self.closed).enumerate();
        pairs.filter(|(_, (w, _))| is_candidate(**w)).map(|(i, (w, c))| (i, *w, *c))
    }
}

fn is_candidate(weight: u32) -> bool {
    weight & Map::NOT_A_CANDIDATE == 0
}

/// Rule that picks a victim among the closed blocks of a lane.
trait VictimPolicy {
    /// Number of the victim, or `None` if no block may be collected.
    fn victim(&self, blocks: &Blocks, rng: &mut Rng) -> Option<usize>;
}

/// History of all super blocks.
#[derive(Clone, Copy)]
pub struct BlockHistory<'a> {
    /// Close number of each.
    pub closed: &'a [u64],
    /// The next close number.
    pub clock: u64,
    /// P/E cycles of each.
    pub cycles: &'a [u32],
}

impl GcPolicy {
    /// Picks a victim among the blocks `range` of a lane, or `None` if none may be collected.
    pub fn select(
        self,
        map: &Map,
        history: BlockHistory,
        range: Range<SuperBlock>,
        units_per_block: u32,
        rng: &mut Rng,
    ) -> Option<SuperBlock> {
        let of = range.start.index()..range.end.index();
        let BlockHistory { closed, clock, cycles } = history;
        let (weights, closed, cycles) = (&map.weight[of.clone()], &closed[of.clone()], &cycles[of]);
        let blocks = Blocks { weights, closed, cycles, clock, units: units_per_block };
        let number = each_policy!(self, it => it.victim(&blocks, rng))?;
        Some(range.start + number as u32)
    }
}

choices! {
    /// Unit in which the soft threshold counts free space.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FreeCount {
        /// erased blocks
        Blocks = "blocks",
        /// free pages, those of open blocks included
        Pages = "pages",
        /// a running count that each program reduces by its pages and each erase increases by a whole block (SSDSim): pages
        /// that a two-bit program passes over stay in it
        RunningPages = "running-pages",
    }
}

choices! {
    /// Base of a threshold's share.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ThresholdBase {
        /// a share of all blocks
        Blocks = "blocks",
        /// a share of the blocks beyond those the logical capacity fills
        Spare = "spare",
    }
}
