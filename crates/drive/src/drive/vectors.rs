//! Vector commands inside the drive: execution, and admission of their data (Open-Channel SSD).

use super::Drive;
use crate::ftl::{Admitted, Flash, Ftl};
use crate::numbers::Lpn;
use interpulse_engine::{EventQueue, Op, RequestId, Status, VectorAction, ZoneAction};

impl Drive {
    /// Executes the vector command `id`, as a whole or not at all.
    #[cold]
    pub(super) fn vector_command(&mut self, events: &mut EventQueue, id: RequestId, action: VectorAction) {
        let (list, bytes) = {
            let request = self.host.requests.get(id);
            (request.lpn, request.bytes)
        };
        let addresses = self.vectors.take(list);
        let mut units = std::mem::take(&mut self.vectors.units);
        units.clear();
        let legal = self.add_units(&addresses, &mut units) && !self.host.splitter.is_above(bytes);
        let accepted = if legal { self.ftl.accept_vector(action, &units) } else { Err(Status::InvalidField) };
        if accepted.is_ok() && action == VectorAction::Write {
            self.vectors.lists[list.index()] = addresses;
        } else {
            self.vectors.release(list, addresses);
        }
        match (accepted, action) {
            (Err(status), _) => self.refuse(events, id, status),
            (Ok(()), VectorAction::Read) => self.read_vector(events, id, &units),
            (Ok(()), VectorAction::Write) => {
                let now = events.now();
                self.host.ask_for_data(events, now, id, bytes);
            }
            (Ok(()), VectorAction::Reset) => self.reset_vector(events, id, &units),
        }
        self.vectors.units = units;
    }

    /// Adds the units at the addresses of a list to `units`; false if the list is not legal.
    fn add_units(&self, addresses: &[u64], units: &mut Vec<Lpn>) -> bool {
        let block = self.spec.geometry.unit_bytes / 512;
        let most = u64::from(self.ftl.logical_units());
        let is_legal = |&sector: &u64| sector.is_multiple_of(block) && sector / block < most;
        units.extend(addresses.iter().map(|sector| Lpn((sector / block) as u32)));
        (1..=VectorAction::MOST_ADDRESSES as usize).contains(&units.len()) && addresses.iter().all(is_legal)
    }

    /// Reads `units`, consecutive ones together; the command completes with the last page.
    fn read_vector(&mut self, events: &mut EventQueue, id: RequestId, units: &[Lpn]) {
        let mut reads = 0;
        for run in units.chunk_by(|a, b| a.0 + 1 == b.0) {
            reads += self.read_units(events, id, run[0], run[run.len() - 1] + 1, false);
        }
        let request = self.host.requests.get_mut(id);
        // From now on the drive treats it as any read of several pages.
        (request.op, request.reads_left) = (Op::Read, reads);
        if reads == 0 {
            let bytes = request.bytes;
            self.pass_dram(events, id, bytes);
        }
    }

    /// Resets the chunks that begin at `units`; the command completes with the last erase.
    fn reset_vector(&mut self, events: &mut EventQueue, id: RequestId, units: &[Lpn]) {
        let mut waits = 0;
        for &lpn in units {
            let mut flash = Flash { nand: &mut self.nand, events };
            let ended = self.ftl.zone_command(&mut flash, id, ZoneAction::Reset, lpn);
            waits += u32::from(!ended.expect("it has been checked"));
        }
        let now = events.now();
        let request = self.host.requests.get_mut(id);
        (request.bytes, request.reads_left) = (0, waits);
        if waits == 0 {
            self.host.leave(events, now, id, 0);
        }
        // The data dropped may be of writes that wait for it, and has freed slots.
        self.drain_ftl(events, None);
        if !self.host.stalled.is_empty() {
            self.room_in_cache(events);
        }
    }

    /// Admits units of a vector write until the cache is full; true if all are in.
    pub(super) fn admit_vector(&mut self, id: RequestId) -> bool {
        let (list, units, mut done, arrived) = {
            let of = self.host.requests.get(id);
            (of.lpn, of.units, of.admitted, of.submitted)
        };
        let addresses = self.vectors.take(list);
        let block = self.spec.geometry.unit_bytes / 512;
        let mut slots = 0;
        for sector in &addresses[done as usize..] {
            match self.ftl.admit(id, Lpn((sector / block) as u32), units, arrived, 0) {
                Admitted::Slot(_) => slots += 1,
                Admitted::Absorbed => {}
                Admitted::Full => break,
            }
            done += 1;
        }
        if done == units {
            self.vectors.release(list, addresses);
        } else {
            self.vectors.lists[list.index()] = addresses;
        }
        let request = self.host.requests.get_mut(id);
        request.admitted = done;
        request.unprogrammed += slots;
        done == units
    }
}
