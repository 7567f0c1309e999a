//! Compare: the data of the host arrives over the link, the units are read from flash, and no data returns.
//!
//! The simulator holds no data: every comparison succeeds.

use super::Drive;
use interpulse_engine::{EventQueue, RequestId};

impl Drive {
    /// Requests the data of comparison `id` from the host.
    #[cold]
    pub(super) fn compare(&mut self, events: &mut EventQueue, id: RequestId) {
        let (now, bytes) = (events.now(), self.host.requests.get(id).bytes);
        self.host.ask_for_data(events, now, id, bytes);
    }

    /// Reads the units of comparison `id`, whose data has arrived.
    #[cold]
    pub(super) fn read_to_compare(&mut self, events: &mut EventQueue, id: RequestId) {
        let request = self.host.requests.get(id);
        let (from, to) = (request.lpn, request.lpn + request.units);
        match self.read_units(events, id, from, to, false) {
            0 => self.pass_dram(events, id, 0),
            reads => self.host.requests.get_mut(id).reads_left = reads,
        }
    }
}
