//! Firmware cores by task inside the drive: look-ups of commands, moves of collection.

use super::Drive;
use crate::firmware::Moving;
use crate::ftl::{Flash, Ftl};
use crate::numbers::GcReadId;
use interpulse_engine::account::Cause;
use interpulse_engine::{EventQueue, Op, RequestId};
use interpulse_flash::nand::txn::Txn;

impl Drive {
    /// Gives command `id` to a core that looks the map up; false if it needs none.
    #[inline(never)]
    pub(super) fn looks_up(&mut self, events: &mut EventQueue, id: RequestId) -> bool {
        let request = self.host.requests.get(id);
        let (from, units, op) = (request.lpn, request.units, request.op);
        let copies = |cache: &crate::read_cache::ReadCache| op == Op::Read && cache.holds(from, from + units);
        if units == 0 || self.read_cache.as_ref().is_some_and(|cache| copies(cache)) {
            return false;
        }
        let Some(pool) = self.firmware.as_mut().and_then(|of| of.look_ups.as_mut()) else { return false };
        pool.take(events, units, id);
        true
    }

    /// Gives a deallocation to a core, range by range; false if `id` is another command.
    #[inline(never)]
    pub(super) fn deallocates_ranges(&mut self, events: &mut EventQueue, id: RequestId) -> bool {
        if self.host.requests.get(id).op != Op::Trim {
            return false;
        }
        let Some(pool) = self.firmware.as_mut().and_then(|of| of.deallocation.as_mut()) else { return false };
        pool.take(events, 1, id);
        true
    }

    /// Gives page read `read` of collection, which has ended, to a core that moves its units.
    #[inline(never)]
    pub(super) fn units_read(&mut self, events: &mut EventQueue, read: GcReadId, txn: &Txn) {
        match self.firmware.as_mut().and_then(|of| of.collection.as_mut()) {
            Some(pool) => pool.take(events, txn.units(), Moving { read, txn: *txn }),
            None => self.units_moved(events, Moving { read, txn: *txn }),
        }
    }

    fn units_moved(&mut self, events: &mut EventQueue, Moving { read, txn }: Moving) {
        let mut flash = Flash { nand: &mut self.nand, events };
        if self.ftl.follows_reads() {
            self.ftl.gc_read_done(&mut flash, read, &txn);
        } else {
            self.ftl.page_collected(&mut flash, read, txn.block);
        }
    }

    /// Timer of look-ups (0), of collection (1) or of deallocations.
    #[inline(never)]
    pub(super) fn on_firmware_timer(&mut self, events: &mut EventQueue, index: u32) {
        let of = self.firmware.as_mut().expect("its timer is armed");
        if index == 0 {
            let (time, id) = of.look_ups.as_mut().expect("its timer is armed").pop(events);
            self.counters.firmware_mapping_time += time.as_ns();
            if !self.deallocates_ranges(events, id) {
                self.execute_out_of_line(events, id, Cause::Firmware);
            }
        } else if index == 2 {
            let (time, id) = of.deallocation.as_mut().expect("its timer is armed").pop(events);
            self.counters.firmware_deallocation_time += time.as_ns();
            self.execute_out_of_line(events, id, Cause::Firmware);
        } else {
            let (time, moving) = of.collection.as_mut().expect("its timer is armed").pop(events);
            self.counters.firmware_collection_time += time.as_ns();
            self.units_moved(events, moving);
        }
    }
}
