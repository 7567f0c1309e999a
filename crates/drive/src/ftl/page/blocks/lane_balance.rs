//! Cached bound showing that no lane is overfull, so that lanes need not be counted again.

use crate::numbers::Lane;

/// Units that lanes may still receive before one can be overfull, while the total of valid units stays constant.
#[derive(Clone, Default)]
pub(crate) struct ImbalanceBound {
    /// Valid units that each lane may receive before it can be overfull; zero if it may be already.
    room: Vec<u64>,
}

impl ImbalanceBound {
    /// Sets the bound from a count of `valid` units, of which no lane may exceed `most`.
    pub(crate) fn update(&mut self, valid: &[u64], most: u64, units_per_program: u32) {
        self.room.clear();
        // A program being filled counts as complete. A replacement lowers the total, and so the mean plus three times its
        // root, by 4 at most.
        let most = most.saturating_sub(u64::from(units_per_program) + 4);
        if valid.iter().all(|&v| v <= most) {
            self.room.extend(valid.iter().map(|&v| most - v));
        }
    }

    #[inline]
    pub(crate) fn give(&mut self, lane: Lane, units: u32) {
        let Some(room) = self.room.get_mut(lane.index()) else { return };
        match room.checked_sub(u64::from(units)) {
            Some(left) => *room = left,
            None => self.room.clear(),
        }
    }

    /// Whether no lane can be overfull.
    pub(crate) fn is_known(&self) -> bool {
        !self.room.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_stay_balanced_until_one_exceeds_its_bound() {
        let mut level = ImbalanceBound::default();
        assert!(!level.is_known());
        level.update(&[100, 50], 132, 12);
        for _ in 0..10 {
            level.give(Lane(1), 6);
        }
        level.give(Lane(0), 12);
        assert!(level.is_known(), "132 less 16 leave 16 for the first lane and 66 for the second");
        level.give(Lane(0), 12);
        assert!(!level.is_known());
        level.give(Lane(0), 12);
        level.update(&[100, 117], 132, 12);
        assert!(!level.is_known(), "the second may be overfull now");
    }
}
