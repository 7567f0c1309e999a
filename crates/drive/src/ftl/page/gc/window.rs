//! GC window: lets an array restrict garbage collection to time slots (H. Li et al., IODA, SOSP'21).

use crate::ftl::flash::Flash;
use crate::ftl::page::gc::state::GcWindow;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::Lane;

impl PageFtl {
    /// From now on garbage collection starts nothing but in lanes that are at the hard threshold, or goes on. What the
    /// flash array has been given runs to its end.
    pub fn hold_gc(&mut self, flash: &mut Flash, hold: bool) {
        self.window.given = true;
        if std::mem::replace(&mut self.window.held, hold) && !hold {
            for lane in Lane::first(self.blocks.layout.lanes) {
                self.advance_gc(flash, lane);
            }
        }
    }

    /// What garbage collection did in and out of turn.
    pub fn gc_window(&self) -> &GcWindow {
        &self.window
    }

    /// Whether garbage collection of `lane` has to wait for its turn. At the hard threshold host data is about to find
    /// no place, so nothing waits there.
    #[inline]
    pub(crate) fn gc_must_wait(&self, lane: Lane) -> bool {
        self.window.held && self.blocks.free_blocks(lane) > self.blocks.config().hard_free
    }

    /// Erases the victims that became empty while that was held back.
    #[cold]
    pub(crate) fn erase_what_waited(&mut self, flash: &mut Flash, lane: Lane) {
        for k in (0..self.collection.lanes[lane.index()].victims.len()).rev() {
            let victim = self.collection.lanes[lane.index()].victims[k].super_block();
            self.erase_if_done(flash, lane, victim);
        }
    }
}
