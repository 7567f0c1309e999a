//! Handle on the flash array and the timers below an FTL.

use interpulse_engine::{EventQueue, SimTime};
use interpulse_flash::nand::Nand;
use interpulse_flash::nand::txn::Txn;

/// The flash array and the event queue, lent for the time of a call.
pub struct Flash<'a> {
    /// The flash array.
    pub nand: &'a mut Nand,
    /// The event queue.
    pub events: &'a mut EventQueue,
}

impl Flash<'_> {
    /// Now.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.events.now()
    }

    /// Gives the array an operation.
    #[inline(always)]
    pub fn submit(&mut self, txn: Txn) {
        self.nand.submit(self.events, txn);
    }
}
