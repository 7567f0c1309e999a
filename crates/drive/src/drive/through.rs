//! Writes that are complete when their data is on flash (`cache.acknowledge = "when-programmed"`): which write
//! waits for which slot of the cache, and what for.

use super::Drive;
use crate::account::{Cause, book_program};
use interpulse_engine::Agenda;
use interpulse_flash::nand::txn::Txn;

impl Drive {
    /// Whether writes wait for their programs.
    #[inline]
    pub(super) fn writes_through(&self) -> bool {
        !self.writers.is_empty()
    }

    /// Write `id` has put a unit into `slot` and waits for its program.
    #[inline]
    pub(super) fn wait_for_program(&mut self, id: u32, slot: u32) {
        self.writers[slot as usize] = id;
        self.requests.get_mut(id).unprogrammed += 1;
    }

    /// The data of `slot` is on flash by `program`. The program that ends last is the one its write waited for.
    pub(super) fn slot_programmed(&mut self, agenda: &mut Agenda, slot: u32, program: &Txn) {
        let id = self.writers[slot as usize];
        if !self.was_the_last(id) {
            return;
        }
        let now = agenda.now();
        let request = self.requests.get_mut(id);
        // A slot, and a block to write to, are waited for before the program is submitted.
        request.book(Cause::Cache, program.mark);
        book_program(&mut request.account, program);
        request.mark = now;
        self.leave(agenda, now, id, 0);
    }

    /// The data of `slot` was trimmed before its program began: its write need not wait for it.
    pub(super) fn slot_trimmed(&mut self, agenda: &mut Agenda, slot: u32) {
        let id = self.writers[slot as usize];
        if self.was_the_last(id) {
            let now = agenda.now();
            self.requests.get_mut(id).book(Cause::Cache, now);
            self.leave(agenda, now, id, 0);
        }
    }

    /// One unit less to wait for; true if none is left, neither in the cache nor on the way there.
    fn was_the_last(&mut self, id: u32) -> bool {
        let request = self.requests.get_mut(id);
        request.unprogrammed -= 1;
        request.unprogrammed == 0 && request.admitted == request.units
    }
}
