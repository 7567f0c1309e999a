//! Handle on the flash array and the timers below an FTL.

use interpulse_engine::{EventQueue, SimTime};
use interpulse_flash::nand::Nand;
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

    /// Submits an operation to the flash array.
    #[inline(always)]
    pub fn submit(&mut self, txn: Txn) {
        self.nand.submit(self.events, txn);
    }
}
