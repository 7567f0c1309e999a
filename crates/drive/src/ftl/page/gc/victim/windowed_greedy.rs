//! `windowed-greedy`: the emptiest of the w blocks closed longest ago (Hu et al., SYSTOR 2009); ties go to the lowest
//! number. A window of one block is FIFO, a window of all blocks is greedy.

use super::{Blocks, VictimPolicy};
use interpulse_engine::Rng;
use interpulse_settings::{default, keys};
use std::cmp::Ordering;

keys! {
    /// Windowed greedy policy.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct WindowedGreedy, pub(crate) fn read(s) {
        /// closed blocks of a lane, oldest first, from which windowed-greedy takes the emptiest
        pub window: u32 = ["gc-oldest"] u32(default(32).at_least(1)),
    }
}

impl VictimPolicy for WindowedGreedy {
    #[inline]
    fn victim(&self, blocks: &Blocks, _: &mut Rng) -> Option<usize> {
        let newest = newest_of_window(blocks, self.window as usize)?;
        let window = blocks.candidates().filter(|&(_, _, closed)| closed <= newest);
        window.min_by_key(|&(i, weight, _)| (weight, i)).map(|(i, _, _)| i)
    }
}

/// Largest close number of the `window` oldest candidates; `None` without candidates.
fn newest_of_window(blocks: &Blocks, window: usize) -> Option<u64> {
    let (mut low, mut high) =
        blocks.candidates().fold((u64::MAX, 0), |(low, high), (_, _, at)| (at.min(low), at.max(high)));
    if low > high {
        return None;
    }
    // Bisection needs no memory for an order: a lane has some thousand blocks, and few victims are chosen.
    while low < high {
        let middle = low + (high - low) / 2;
        match blocks.candidates().filter(|&(_, _, at)| at <= middle).count().cmp(&window) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal | Ordering::Greater => high = middle,
        }
    }
    Some(low)
}
