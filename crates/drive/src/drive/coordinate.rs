//! What an owner of several drives may ask of one so that they stay out of one another's way: garbage collection only
//! when it is this drive's turn, and reads that fail at once rather than wait for it (H. Li et al., "IODA", SOSP'21).

use super::Drive;
use crate::ftl::map::Where;
use interpulse_engine::Agenda;
use interpulse_workload::{Op, Request};

/// When garbage collection may run, if the owner says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct GcTurn {
    /// The owner says when.
    pub(super) given: bool,
    /// It is not the drive's turn.
    held: bool,
    /// Page reads, programs and erases of garbage collection submitted since the start.
    pub started: u64,
    /// Of these, those out of turn: their lane had no free block left but those that host data may not take.
    pub forced: u64,
}

impl GcTurn {
    /// Until the owner says otherwise garbage collection runs as it has to.
    pub(super) fn release(&mut self) {
        self.held = false;
    }

    /// Counts an operation of garbage collection.
    #[inline]
    pub(super) fn count(&mut self) {
        self.started += 1;
        self.forced += u64::from(self.held);
    }
}

impl Drive {
    /// From now on garbage collection starts nothing but in lanes that are at the hard threshold, or goes on. What the
    /// flash array has been given runs to its end.
    pub fn hold_gc(&mut self, agenda: &mut Agenda, hold: bool) {
        self.gc_turn.given = true;
        if std::mem::replace(&mut self.gc_turn.held, hold) && !hold {
            for lane in 0..self.ftl.layout.lanes {
                self.pump_gc(agenda, lane);
            }
        }
    }

    /// What garbage collection did in and out of turn.
    pub fn gc_turn(&self) -> &GcTurn {
        &self.gc_turn
    }

    /// Whether garbage collection of `lane` has to wait for its turn. At the hard threshold host data is about to find
    /// no place, so nothing waits there.
    #[inline]
    pub(super) fn gc_must_wait(&self, lane: u32) -> bool {
        self.gc_turn.held && self.ftl.free_blocks(lane) > self.ftl.config().hard_free
    }

    /// Erases the victims that became empty while that was held back.
    #[cold]
    pub(super) fn erase_what_waited(&mut self, agenda: &mut Agenda, lane: u32) {
        for k in (0..self.gc_lanes[lane as usize].victims.len()).rev() {
            let victim = self.gc_lanes[lane as usize].victims[k].super_block();
            self.erase_if_done(agenda, lane, victim);
        }
    }

    /// Submits a read of the owner that fails as soon as firmware sees that it would have to wait for garbage
    /// collection; see [`Drive::submit_request`].
    pub fn submit_fail_fast(&mut self, agenda: &mut Agenda, request: Request) -> u32 {
        debug_assert_eq!(request.op, Op::Read);
        let id = self.submit_request(agenda, request);
        self.requests.get_mut(id).fail_fast = true;
        id
    }

    /// Fails the read `id` if it would have to wait for garbage collection: its completion leaves without data.
    #[cold]
    pub(super) fn fails_fast(&mut self, agenda: &mut Agenda, id: u32) -> bool {
        let now = agenda.now();
        let (lpn, units) = {
            let request = self.requests.get(id);
            (request.lpn, request.units)
        };
        let waits = (lpn..lpn + units).any(|lpn| match self.ftl.map.get(lpn) {
            Where::Flash(ppu) => self.nand.gc_is_in_the_way(self.ftl.layout.place(ppu).die, now),
            Where::Cache(_) | Where::Unmapped => false,
        });
        if waits {
            let request = self.requests.get_mut(id);
            (request.busy, request.bytes) = (true, 0);
            self.leave(agenda, now, id, 0);
        }
        waits
    }
}
