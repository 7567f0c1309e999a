//! Commands without pulses or sensing: they occupy the die for their steps and cannot be suspended.

use super::Nand;
use super::txn::Txn;
use crate::command::Class;
use crate::ids::TxnId;
use crate::pulse::PulseTrain;
use interpulse_engine::{EventQueue, SimTime};

impl Nand {
    /// The die starts a command without pulses.
    #[cold]
    #[inline(never)]
    pub(super) fn start_without_pulses(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        id: TxnId,
        txn: &Txn,
    ) {
        let nested = self.dies[d].long().is_some();
        self.dies[d].begin_long(now, txn.kind, PulseTrain::NONE, None, txn.planes());
        let active = &mut self.contexts[d].active;
        if nested {
            active.beneath = active.long;
        }
        (active.long, active.count, active.powered, active.steps) = (id, 0, false, txn.kind.command().steps);
        active.loads = txn.planes().count;
        self.next_step(events, now, d);
    }

    /// The last step of a command without pulses is over.
    pub(super) fn finished_without_pulses(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        self.release_power(d);
        let die = &mut self.dies[d];
        let kind = die.long().expect("only a long operation finishes").kind;
        die.finish_long(now);
        let active = &mut self.contexts[d].active;
        let id = active.long;
        (active.long, active.beneath) = (active.beneath, TxnId::NONE);
        *kind.count(&mut self.counters) += 1;
        if kind.command().class == Class::HostWrite {
            self.account_program(now, d, id);
        }
        self.ends(now, id);
        self.next_on(events, now, d);
    }
}
