//! Handle on the flash array and the timers below an FTL.

use interpulse_engine::{EventQueue, SimTime};
use interpulse_flash::nand::Nand;
use interpulse_flash::nand::copyback::Source;
use interpulse_flash::nand::txn::Txn;

/// Flash array and event queue, borrowed for one call.
pub struct Flash<'a> {
    /// The flash array.
    pub nand: &'a mut Nand,
    /// Event queue.
    pub events: &'a mut EventQueue,
}

impl Flash<'_> {
    /// Current time.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.events.now()
    }

    /// Submits a program of moved data as a copyback of `sources`.
    pub fn submit_copyback(&mut self, txn: Txn, sources: &[Source]) {
        self.nand.submit_copyback(self.events, txn, sources);
    }

    /// Submits an operation to the flash array.
    #[inline(always)]
    pub fn submit(&mut self, txn: Txn) {
        self.nand.submit(self.events, txn);
    }
}
