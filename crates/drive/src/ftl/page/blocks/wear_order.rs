//! Free super blocks in order of their erases.

use crate::ftl::page::blocks::manager::BlockManager;
use crate::numbers::{Lane, SuperBlock};

impl BlockManager {
    /// Takes the free super block of `lane` with the fewest erases, for `cold` data the one with the most; of equals the one
    /// erased longest ago. Cold data may turn out not to be, so its block has no more erases than the limit of the lane.
    #[cold]
    #[inline(never)]
    pub(super) fn take_by_wear(&mut self, lane: Lane, cold: bool) -> Option<SuperBlock> {
        let of = &self.lanes[lane.index()];
        let wear = |at: &usize| self.cycles[of.free[*at].index()];
        let limit = of.wear_limit.unwrap_or(u32::MAX);
        let worn = (0..of.free.len()).filter(|at| cold && wear(at) <= limit);
        let at = worn.min_by_key(|at| std::cmp::Reverse(wear(at)));
        let at = at.or_else(|| (0..of.free.len()).min_by_key(wear))?;
        self.lanes[lane.index()].free.remove(at)
    }

    /// Whether a free super block of `lane` has fewer erases than host data may open at present.
    #[cold]
    #[inline(never)]
    pub(super) fn has_unworn_block(&self, lane: Lane) -> bool {
        let of = &self.lanes[lane.index()];
        let limit = of.wear_limit.unwrap_or(u32::MAX);
        of.free.iter().any(|block| self.cycles[block.index()] < limit)
    }

    /// Most erases of a free super block of `lane`.
    pub(crate) fn most_worn_free(&self, lane: Lane) -> Option<u32> {
        self.lanes[lane.index()].free.iter().map(|block| self.cycles[block.index()]).max()
    }
}
