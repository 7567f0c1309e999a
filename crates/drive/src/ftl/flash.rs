//! Handle on the flash array and the timers below an FTL.

use interpulse_engine::{Agenda, SimTime};
use interpulse_flash::nand::Nand;
use interpulse_flash::nand::txn::Txn;

/// The flash array and the agenda, lent for the time of a call.
pub struct Flash<'a> {
    /// The flash array.
    pub nand: &'a mut Nand,
    /// The agenda.
    pub agenda: &'a mut Agenda,
}

impl Flash<'_> {
    /// Now.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.agenda.now()
    }

    /// Gives the array an operation.
    #[inline(always)]
    pub fn submit(&mut self, txn: Txn) {
        self.nand.submit(self.agenda, txn);
    }
}
