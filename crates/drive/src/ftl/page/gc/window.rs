//! GC window: lets an array restrict garbage collection to time slots (H. Li et al., IODA, SOSP'21).

use crate::ftl::flash::Flash;
use crate::ftl::page::gc::state::GcWindow;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::Lane;

impl PageFtl {
    /// Closes or opens the GC window. While closed, only lanes at the hard threshold start a collection; operations already
    /// issued to the flash array complete.
    pub fn hold_gc(&mut self, flash: &mut Flash, hold: bool) {
        self.window.given = true;
        if std::mem::replace(&mut self.window.held, hold) && !hold {
            for lane in Lane::first(self.blocks.layout.lanes) {
                self.advance_gc(flash, lane);
            }
        }
    }

    /// Counts of garbage collection inside and outside the window.
    pub fn gc_window(&self) -> &GcWindow {
        &self.window
    }

    /// Whether garbage collection of `lane` waits for the window; not at the hard threshold, where host data needs a block.
    #[inline]
    pub(crate) fn gc_must_wait(&self, lane: Lane) -> bool {
        self.window.held && self.blocks.free_blocks(lane) > self.blocks.config().hard_free
    }

    /// Erases victims that became empty while the window was closed.
    #[cold]
    pub(crate) fn erase_waiting_victims(&mut self, flash: &mut Flash, lane: Lane) {
        for k in (0..self.collection.lanes[lane.index()].victims.len()).rev() {
            let victim = self.collection.lanes[lane.index()].victims[k].super_block();
            self.erase_if_done(flash, lane, victim);
        }
    }
}
