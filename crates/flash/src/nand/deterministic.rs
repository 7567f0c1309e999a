//! Deterministic windows: the array starts no program, no erase and no background read.
//!
//! Operations that have begun continue, also after a suspension.

use super::Nand;
use crate::command::Class;
use crate::ids::TxnId;
use interpulse_engine::EventQueue;

impl Nand {
    /// Admits deterministic windows; without this call [`Nand::set_deterministic`] panics.
    pub fn admit_deterministic_windows(&mut self) {
        self.held_back = Some(Box::default());
        self.observed = true;
    }

    /// Begins or ends a deterministic window.
    pub fn set_deterministic(&mut self, events: &mut EventQueue, deterministic: bool) {
        let of = self.held_back.as_mut().expect("deterministic windows are admitted");
        if std::mem::replace(&mut of.active, deterministic) == deterministic {
            return;
        }
        if deterministic {
            self.hold_waiting();
            return;
        }
        let of = self.held_back.as_mut().expect("deterministic windows are admitted");
        for id in std::mem::take(&mut of.waiting) {
            let d = self.txns.get(id).die.index();
            self.take_observed(events, events.now(), d, id);
        }
    }

    /// Programs, erases and background reads that deterministic windows have held since the start.
    pub fn held_in_windows(&self) -> u64 {
        self.held_back.as_ref().map_or(0, |of| of.count)
    }

    /// Holds the new transaction `id` until the end of the deterministic window; false if it may start.
    pub(super) fn holds_back(&mut self, id: TxnId) -> bool {
        let Some(of) = self.held_back.as_mut().filter(|of| of.active) else { return false };
        let held = self.txns.get(id).kind.command().class != Class::HostRead;
        if held {
            of.waiting.push(id);
            of.count += 1;
        }
        held
    }

    /// Holds what waits for its die. Reads that are being retried have begun.
    fn hold_waiting(&mut self) {
        let of = self.held_back.as_mut().expect("deterministic windows are admitted");
        for context in &mut self.contexts {
            for class in Class::ALL.into_iter().filter(|&class| class != Class::HostRead) {
                let (mut before, mut id) = (TxnId::NONE, context.queue.first(class));
                while id != TxnId::NONE {
                    let (next, begun) = (self.txns.get(id).next, self.txns.get(id).is_retry());
                    if begun {
                        before = id;
                    } else {
                        context.queue.unlink(&mut self.txns, before, id);
                        of.waiting.push(id);
                        of.count += 1;
                    }
                    id = next;
                }
            }
        }
        of.waiting.sort_by_key(|&id| self.txns.get(id).seq);
    }
}
