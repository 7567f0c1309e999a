//! Which block garbage collection empties next.

use super::map::Map;
use interpulse_engine::Rng;
use std::ops::Range;

/// The victim policies. Each is a rule over the closed blocks of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcPolicy {
    /// The block with the fewest valid units; the lowest number among equals.
    Greedy,
    /// The emptiest of `d` closed blocks drawn at random (Van Houdt 2013).
    DChoices {
        /// Blocks drawn.
        d: u32,
    },
    /// The block that was filled longest ago.
    Fifo,
    /// The largest age * (1 - u) / 2u, u being the valid share (Rosenblum and Ousterhout 1992); age counts
    /// blocks closed since.
    CostBenefit,
    /// No victims and no erases: every host program is followed by extra programs so that the stated write
    /// amplification results.
    Imposed,
}

impl GcPolicy {
    /// Name and one line of documentation of every policy.
    pub const ALL: &'static [(&'static str, &'static str)] = &[
        ("greedy", "the block with the fewest valid units"),
        ("d-choices", "the emptiest of gc-choices closed blocks drawn at random"),
        ("fifo", "the block that was filled longest ago"),
        ("cost-benefit", "the largest age x (1 - u) / 2u, u being the valid share"),
        ("imposed", "a stated write amplification becomes extra programs, with no victim and no erase"),
    ];

    /// Picks a victim among the blocks `range` of a lane, or `None` if none may be collected.
    ///
    /// `closed` gives when each block was closed, `clock` is the next such number.
    pub fn select(
        self,
        map: &Map,
        closed: &[u64],
        clock: u64,
        range: Range<u32>,
        units_per_block: u32,
        rng: &mut Rng,
    ) -> Option<u32> {
        let weights = &map.weight[range.start as usize..range.end as usize];
        let candidate = |w: u16| w & Map::NOT_A_CANDIDATE == 0;
        let offset = match self {
            GcPolicy::Greedy => emptiest(weights),
            GcPolicy::Fifo => {
                let closed = &closed[range.start as usize..range.end as usize];
                let pairs = weights.iter().zip(closed).enumerate();
                pairs.filter(|(_, (w, _))| candidate(**w)).min_by_key(|(_, (_, c))| **c).map(|(i, _)| i)
            }
            GcPolicy::DChoices { d } => {
                let n = weights.len() as u64;
                if !weights.iter().any(|&w| candidate(w)) {
                    return None;
                }
                let mut best: Option<usize> = None;
                let mut drawn = 0;
                while drawn < d {
                    let i = rng.below(n) as usize;
                    if candidate(weights[i]) {
                        drawn += 1;
                        if best.is_none_or(|b| weights[i] < weights[b]) {
                            best = Some(i);
                        }
                    }
                }
                best
            }
            GcPolicy::CostBenefit => {
                let closed = &closed[range.start as usize..range.end as usize];
                let score = |w: u16, c: u64| {
                    let (valid, age) = (u64::from(w), clock - c);
                    // age * (1 - u) / 2u in integers; an empty block is the best there is.
                    if valid == 0 {
                        u64::MAX
                    } else {
                        age * ((u64::from(units_per_block) - valid) << 16) / (2 * valid)
                    }
                };
                let pairs = weights.iter().zip(closed).enumerate();
                pairs
                    .filter(|(_, (w, _))| candidate(**w))
                    .max_by_key(|(i, (w, c))| (score(**w, **c), std::cmp::Reverse(*i)))
                    .map(|(i, _)| i)
            }
            GcPolicy::Imposed => unreachable!("imposed write amplification has no victims"),
        }?;
        Some(range.start + offset as u32)
    }
}

/// The first of the smallest weights, if it is a candidate. Two passes, both of which vectorise.
fn emptiest(weights: &[u16]) -> Option<usize> {
    let smallest = weights.iter().fold(u16::MAX, |a, &b| a.min(b));
    if smallest & Map::NOT_A_CANDIDATE != 0 {
        return None;
    }
    weights.iter().position(|&w| w == smallest)
}

/// What a threshold is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdBase {
    /// All blocks of a lane.
    Blocks,
    /// The spare ones: blocks beyond those the logical capacity fills.
    Spare,
}

impl ThresholdBase {
    /// Name, value and one line of documentation.
    pub const ALL: &'static [(&'static str, ThresholdBase, &'static str)] = &[
        ("blocks", ThresholdBase::Blocks, "a share of all blocks"),
        ("spare", ThresholdBase::Spare, "a share of the blocks beyond those the logical capacity fills"),
    ];
}
