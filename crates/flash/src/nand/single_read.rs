//! Fast path of single-page reads: from the dispatch to the sensing in one straight line through one die.

use super::Nand;
use super::channel::Transfer;
use super::txn::Txn;
use crate::command::Wait;
use crate::die::{Occupancy, State};
use crate::ids::TxnId;
use interpulse_engine::{Duration, EventQueue, SimTime};

impl Nand {
    /// Whether the array has neither cache registers nor independent planes nor observers nor a budget.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        !self.observed && !self.has_beside
    }

    /// Die `d` starts `id`, the head of its queue.
    #[inline(always)]
    pub(super) fn dispatch(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId) {
        let txn = self.txns.get(id);
        let command = txn.kind.command();
        let others =
            self.config.multi_plane_reads && self.contexts[d].queue.first(command.class) != TxnId::NONE;
        if command.is_page_read() && self.is_plain() && !txn.is_retry() && !others {
            self.read_single(events, now, d, id);
        } else {
            self.start(events, now, d, id);
        }
    }

    /// Die `d`, idle or suspended, serves the read `id` alone.
    #[inline(never)]
    pub(super) fn read_single(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId) {
        let (die, context, txn) = (&mut self.dies[d], &mut self.contexts[d], self.txns.get_mut(id));
        debug_assert!(!txn.is_retry());
        let active = &mut context.active;
        active.reads[0] = id;
        (active.count, active.moved) = (1, 0);
        die.check_read(now, txn.plane.into(), txn.block, txn.page);
        let suspended = die.long().is_some();
        self.counters.reads_in_suspension += u64::from(suspended);
        let (row, command) = (txn.kind.command(), self.timing.command);
        if !self.channels[context.command_bus as usize].take_if_free(now, command) {
            die.go(now, State::Command, row.bus, txn.block);
            self.wait_for_bus(events, d, Transfer::Command, command);
            return;
        }
        self.counters.bus_time += self.timing.shared_command.as_ns();
        let mut sense = Duration::ZERO;
        if suspended && die.buffers(txn.plane.into(), txn.block, txn.page) {
            self.counters.page_buffer_reads += 1;
            txn.set(Txn::BUFFERED);
        } else {
            active.buffer_used = true;
            let page_type = txn.page % self.geometry.pages_per_word_line;
            sense = txn.sensing(&self.timing, page_type as usize);
            txn.waits[Wait::Sensing as usize] += sense.as_ns();
            self.supply.tally.book_sensing(txn.kind, page_type, sense);
        }
        // Nothing comes between command and sensing.
        die.pass(
            now,
            Occupancy { state: State::Command, usage: row.bus },
            Occupancy { state: State::Sensing, usage: row.array },
            txn.block,
        );
        events.arm(self.timer(d), now + command + sense);
    }
}
