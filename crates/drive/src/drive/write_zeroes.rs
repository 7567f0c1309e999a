//! Write Zeroes: deallocates whole units and writes the others, or writes all units. No data moves over the link.

use super::Drive;
use crate::ftl::Ftl;
use crate::numbers::Lpn;
use crate::spec::WriteZeroes;
use interpulse_engine::account::Cause;
use interpulse_engine::{EventQueue, RequestId};

impl Drive {
    /// Executes command `id`.
    #[cold]
    pub(super) fn write_zeroes(&mut self, events: &mut EventQueue, id: RequestId) {
        let request = self.host.requests.get(id);
        let (lpn, units, partial) = (request.lpn, request.units, request.partial);
        if let Err(status) = self.ftl.accept_write(lpn, units, partial == [false; 2]) {
            return self.refuse(events, id, status);
        }
        if !self.ftl.deallocates(lpn) {
            // In zones, after the writes that it follows, whose data is on the link.
            self.counters.zeroed_units_written += u64::from(units);
            let now = events.now();
            return self.host.ask_for_data(events, now, id, 0);
        }
        if self.deallocates_zeroes() {
            self.counters.zeroed_units_deallocated += self.deallocate(events, id);
            if partial == [false; 2] {
                let now = events.now();
                return self.host.leave(events, now, id, 0);
            }
        }
        if partial == [false; 2] || !self.read_for_merge(events, id) {
            self.admit_zeroes(events, id);
        }
    }

    fn deallocates_zeroes(&self) -> bool {
        self.spec.host.write_zeroes == WriteZeroes::Deallocate
    }

    /// Writes the units of command `id` that are not deallocated, whose other sectors have been read.
    #[cold]
    pub(super) fn admit_zeroes(&mut self, events: &mut EventQueue, id: RequestId) {
        let deallocates = self.deallocates_zeroes();
        let request = self.host.requests.get_mut(id);
        let last = request.lpn + (request.units - 1);
        if deallocates {
            match request.partial {
                [true, true] if request.units > 2 => {
                    request.units = 1;
                    self.host.second_edges.push((id, last));
                }
                [true, true] => {}
                [true, false] => request.units = 1,
                [false, _] => (request.lpn, request.units) = (last, 1),
            }
        }
        self.counters.zeroed_units_written += u64::from(self.host.requests.get(id).units);
        self.admit(events, id);
    }

    /// Admits the last unit of a command that has admitted the first one, between which others have been deallocated; false if it
    /// has no such unit.
    #[cold]
    pub(super) fn admits_second_edge(&mut self, events: &mut EventQueue, id: RequestId) -> bool {
        let edges = &mut self.host.second_edges;
        let Some(at) = edges.iter().position(|&(of, _)| of == id) else { return false };
        let (_, last) = edges.swap_remove(at);
        let writes_through = self.ftl.writes_through();
        let request = self.host.requests.get_mut(id);
        // The unit before it is admitted, as that of a write of two units.
        (request.lpn, request.units) = (Lpn(last.0 - 1), 2);
        if !writes_through {
            request.book(Cause::Cache, events.now());
        }
        self.counters.zeroed_units_written += 1;
        self.admit(events, id);
        true
    }
}
