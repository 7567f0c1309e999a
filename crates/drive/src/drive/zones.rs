//! Zone commands inside the drive: append and zone management, and commands that the FTL refuses.

use super::Drive;
use crate::ftl::{Flash, Ftl};
use interpulse_engine::account::Cause;
use interpulse_engine::{EventQueue, RequestId, Status, ZoneAction};

/// Bytes of the header of a zone report, and of each descriptor in it (NVMe Zoned Namespace Command Set).
const REPORT_ENTRY: u64 = 64;

impl Drive {
    /// Places an append, then continues as a write.
    #[cold]
    pub(super) fn append(&mut self, events: &mut EventQueue, id: RequestId) {
        let request = self.host.requests.get_mut(id);
        let (bytes, whole_units) = (request.bytes, request.partial == [false; 2]);
        if self.host.splitter.is_above(bytes) {
            return self.refuse(events, id, Status::InvalidField);
        }
        match self.ftl.accept_append(request.lpn, request.units, whole_units) {
            Ok(place) => {
                request.lpn = place;
                let now = events.now();
                self.host.ask_for_data(events, now, id, bytes);
            }
            Err(status) => self.refuse(events, id, status),
        }
    }

    /// Executes a command of zone management.
    #[cold]
    pub(super) fn zone_command(&mut self, events: &mut EventQueue, id: RequestId, action: ZoneAction) {
        let (now, request) = (events.now(), self.host.requests.get(id));
        let (lpn, buffer) = (request.lpn, request.bytes);
        let mut flash = Flash { nand: &mut self.nand, events };
        match self.ftl.zone_command(&mut flash, id, action, lpn) {
            Ok(true) if action == ZoneAction::Report => {
                let zones = u64::from(self.zones_from(lpn));
                let bytes = buffer.min(REPORT_ENTRY * (1 + zones));
                self.host.requests.get_mut(id).bytes = bytes;
                self.host.leave(events, now, id, bytes);
            }
            Ok(true) => self.host.leave(events, now, id, 0),
            Ok(false) => {}
            Err(status) => self.refuse(events, id, status),
        }
        // A reset ends the finish of its zone.
        self.drain_ftl(events, None);
        // A reset may have freed slots that writes wait for.
        if !self.host.stalled.is_empty() {
            self.room_in_cache(events);
        }
    }

    /// Completes the reset or finish `id`, which has waited for operations of `cause`.
    #[cold]
    pub(super) fn zone_changed(&mut self, events: &mut EventQueue, id: RequestId, cause: Cause) {
        let (now, request) = (events.now(), self.host.requests.get_mut(id));
        if request.reads_left > 1 {
            // A vector command resets other chunks too.
            request.reads_left -= 1;
            return;
        }
        self.host.requests.get_mut(id).book(cause, now);
        self.host.leave(events, now, id, 0);
    }

    /// Completes `id` with an error; it moves no data.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse(&mut self, events: &mut EventQueue, id: RequestId, status: Status) {
        let now = events.now();
        let request = self.host.requests.get_mut(id);
        (request.status, request.bytes) = (status, 0);
        self.host.leave(events, now, id, 0);
    }
}
