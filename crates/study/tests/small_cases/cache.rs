//! Write cache against plain lists: order of arrival, trims, flushes.

use interpulse_drive::cache::{Cache, NO_FLASH_COPY};
use interpulse_drive::numbers::{Lpn, Slot};
use proptest::prelude::*;
use std::collections::VecDeque;

/// Model: lists of (slot, epoch) and the slots in flight.
#[derive(Default)]
struct Model {
    lists: [VecDeque<(Slot, u32)>; 2],
    in_flight: Vec<(Slot, u32)>,
    epoch: u32,
}

impl Model {
    /// Epochs of units not yet programmed.
    fn pending(&self) -> impl Iterator<Item = u32> + '_ {
        self.lists.iter().flatten().chain(&self.in_flight).map(|&(_, epoch)| epoch)
    }
}

proptest! {
    /// No slot is lost or allocated twice, order is kept, flushes wait for their data.
    #[test]
    fn the_cache_loses_no_slot_and_no_flush(ops in prop::collection::vec((0u32..6, 0usize..2, any::<u32>()), 0..300)) {
        const SLOTS: u32 = 8;
        let mut cache = Cache::new(SLOTS, 2);
        let mut model = Model::default();
        for (op, list, draw) in ops {
            let live = model.lists[list].len();
            match op {
                0 | 1 => if let Some(slot) = cache.admit(Lpn(draw), list, NO_FLASH_COPY) {
                    prop_assert!(model.lists.iter().flatten().chain(&model.in_flight).all(|e| e.0 != slot));
                    prop_assert_eq!(cache.lpn(slot), Lpn(draw));
                    model.lists[list].push_back((slot, model.epoch));
                },
                2 => {
                    let head = model.lists[list].pop_front();
                    let taken = cache.take_dirty(list);
                    cache.free_dead(list);
                    prop_assert_eq!(taken, head.map(|e| (e.0, cache.lpn(e.0))));
                    model.in_flight.extend(head);
                }
                3 => if !model.in_flight.is_empty() {
                    let (slot, _) = model.in_flight.swap_remove(draw as usize % model.in_flight.len());
                    cache.programmed(slot);
                },
                4 => if live > 0 {
                    let (slot, _) = model.lists[list].remove(draw as usize % live).unwrap();
                    cache.kill_dirty(slot);
                },
                _ => {
                    prop_assert_eq!(cache.begin_flush(), model.epoch);
                    model.epoch += 1;
                }
            }
            let oldest = model.pending().min().unwrap_or(model.epoch);
            prop_assert_eq!(cache.durable_before(), oldest);
            for list in 0..2 {
                prop_assert_eq!(cache.dirty(list), model.lists[list].len() as u32);
                let wanted = model.lists[list].front().is_some_and(|e| e.1 < model.epoch);
                prop_assert_eq!(cache.flush_wants(list), wanted);
            }
            let dirty: usize = model.lists.iter().map(VecDeque::len).sum();
            prop_assert_eq!(cache.dirty_total(), dirty as u32);
            prop_assert_eq!(cache.in_flight(), model.in_flight.len() as u32);
            // A dead slot waits only behind a dirty one, so it is freed eventually.
            prop_assert!(cache.free() + dirty + model.in_flight.len() <= SLOTS as usize);
            if dirty == 0 {
                prop_assert_eq!(cache.free() + model.in_flight.len(), SLOTS as usize);
            }
        }
    }
}
