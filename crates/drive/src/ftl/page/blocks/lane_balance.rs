//! Cached bound showing that no lane is overfull, so that lanes need not be counted again.

use crate::numbers::Lane;

/// What is known of lanes none of which is overfull, while all blocks together hold the same number of valid units.
#[derive(Clone, Default)]
pub(crate) struct ImbalanceBound {
    /// Valid units that each lane can be given before it may be overfull, whatever it loses; none if one may be.
    room: Vec<u64>,
}

impl ImbalanceBound {
    /// As weighing has found it, if none of `valid` is more than `most`.
    pub(crate) fn weighed(&mut self, valid: &[u64], most: u64, units_per_program: u32) {
        self.room.clear();
        // What is left of a program that is being filled counts as given already. And while a unit is being replaced the total is
        // one less, which makes the mean one less and three times its root three.
        let most = most.saturating_sub(u64::from(units_per_program) + 4);
        if valid.iter().all(|&v| v <= most) {
            self.room.extend(valid.iter().map(|&v| most - v));
        }
    }

    /// `lane` is given `units`.
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
    fn lanes_stay_level_until_one_has_been_given_what_it_lacked() {
        let mut level = ImbalanceBound::default();
        assert!(!level.is_known());
        level.weighed(&[100, 50], 132, 12);
        for _ in 0..10 {
            level.give(Lane(1), 6);
        }
        level.give(Lane(0), 12);
        assert!(level.is_known(), "132 less 16 leave 16 for the first lane and 66 for the second");
        level.give(Lane(0), 12);
        assert!(!level.is_known());
        level.give(Lane(0), 12);
        level.weighed(&[100, 117], 132, 12);
        assert!(!level.is_known(), "the second may be overfull now");
    }
}
