//! Destination of the data that garbage collection moves: the seam between the collector and the features that send this data
//! to blocks of their own.
//!
//! The collector gathers the units of its victims and programs them; it calls these functions where a feature may differ. Each
//! feature implements them in its own folder, and has a line in `destinations.rs`. The functions with a body are those of a
//! drive whose data all goes to [`Stream::GC`].

use crate::ftl::flash::Flash;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::write_back::in_flight::{GcRead, ProgramInFlight};
use crate::numbers::{JobId, Lane, SuperBlock};

/// Differences that a destination makes for the collector.
pub(crate) trait Destination {
    // ---- victims ------------------------------------------------------------------------------------------
    /// Whether `lane` may have something to collect though it is not short of free blocks.
    #[inline(always)]
    fn has_work(_ftl: &PageFtl, _lane: Lane) -> bool {
        false
    }

    /// Takes a victim that no victim policy chooses; false if there is none now.
    #[inline(always)]
    fn take_victim(_ftl: &mut PageFtl, _flash: &mut Flash, _lane: Lane) -> bool {
        false
    }

    /// Whether the valid units of `victim` certainly fit.
    #[inline(always)]
    fn fits(ftl: &PageFtl, lane: Lane, victim: SuperBlock) -> bool {
        let units = ftl.unplaced(lane) + ftl.blocks.map().valid_units(victim);
        units.next_multiple_of(ftl.blocks.gc_capacity.program) <= ftl.room_for_moved(lane)
    }

    /// Units of the room of `lane` that a collection about to begin leaves free.
    #[inline(always)]
    fn keeps_free(_ftl: &PageFtl, _lane: Lane) -> u32 {
        0
    }

    /// Whether the units of `victim` are gathered apart from others, by [`Destination::page_read`].
    #[inline(always)]
    fn gathers_apart(_blocks: &BlockManager, _victim: SuperBlock) -> bool {
        false
    }

    /// Notes that the victim policy has chosen `victim`.
    #[inline(always)]
    fn victim_chosen(_ftl: &mut PageFtl, _victim: SuperBlock) {}

    /// Notes that the reads of `victim`, chosen or to be rewritten, begin next.
    #[inline(always)]
    fn victim_begins(_ftl: &mut PageFtl, _lane: Lane, _victim: SuperBlock) {}

    // ---- gathered units -----------------------------------------------------------------------------------
    /// Gathers the units of a page that was read of a victim whose units are gathered apart.
    fn page_read(_ftl: &mut PageFtl, _flash: &mut Flash, _read: GcRead) {
        unreachable!("no victim is gathered apart")
    }

    /// Programs units that were gathered apart, as far as programs may begin.
    #[inline(always)]
    fn program_apart(_ftl: &mut PageFtl, _flash: &mut Flash, _lane: Lane) {}

    /// Programs all gathered units of other victims than the last, if nothing of the lane's collection is in flight.
    #[inline(always)]
    fn program_rest(_ftl: &mut PageFtl, _flash: &mut Flash, _lane: Lane) {}

    /// Write stream of the units that `lane` gathers.
    #[inline(always)]
    fn stream(_ftl: &PageFtl, _lane: Lane) -> Stream {
        Stream::GC
    }

    // ---- programs and erases --------------------------------------------------------------------------------
    /// Notes the units and the place of a program about to be submitted.
    #[inline(always)]
    fn program_begins(_ftl: &mut PageFtl, _job: JobId) {}

    /// Notes that a program has ended, before the map changes.
    #[inline(always)]
    fn program_ended(_ftl: &mut PageFtl, _job: &ProgramInFlight) {}

    /// Notes that the map has followed a program.
    #[inline(always)]
    fn program_committed(_ftl: &mut PageFtl, _flash: &mut Flash, _job: &ProgramInFlight) {}

    /// Whether the erase of `victim` frees space for moved data.
    #[inline(always)]
    fn frees(_blocks: &BlockManager, _victim: SuperBlock) -> bool {
        true
    }

    /// Decides what becomes of `super_block` after its erase.
    #[inline(always)]
    fn erased(_ftl: &mut PageFtl, _flash: &mut Flash, _super_block: SuperBlock) {}

    /// Continues what waited for an erase.
    #[inline(always)]
    fn space_freed(_ftl: &mut PageFtl, _flash: &mut Flash) {}

    /// State of a lane, for a run that cannot continue.
    fn diagnosis(_ftl: &PageFtl, _lane: Lane) -> String {
        String::new()
    }
}
