//! Folding of an SLC cache whose data has placement handles: moved data goes where relocated data of its handle goes.

use crate::ftl::flash::Flash;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::gc::destination::Destination;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::placement::collection::ByHandle;
use crate::ftl::page::slc::folding::Folded;
use crate::ftl::page::write_back::in_flight::ProgramInFlight;
use crate::numbers::{JobId, Lane, SuperBlock};

/// Victims are chosen as without handles, and moved data is distributed as without a cache.
pub(crate) struct FoldedByHandle;

impl Destination for FoldedByHandle {
    fn has_work(ftl: &PageFtl, lane: Lane) -> bool {
        Folded::has_work(ftl, lane)
    }

    fn take_victim(ftl: &mut PageFtl, flash: &mut Flash, lane: Lane) -> bool {
        Folded::take_victim(ftl, flash, lane)
    }

    fn fits(ftl: &PageFtl, lane: Lane, victim: SuperBlock) -> bool {
        ByHandle::fits(ftl, lane, victim)
    }

    fn victim_begins(ftl: &mut PageFtl, lane: Lane, victim: SuperBlock) {
        ByHandle::victim_begins(ftl, lane, victim);
    }

    fn program_rest(ftl: &mut PageFtl, flash: &mut Flash, lane: Lane) {
        ByHandle::program_rest(ftl, flash, lane);
    }

    fn stream(ftl: &PageFtl, lane: Lane) -> Stream {
        ByHandle::stream(ftl, lane)
    }

    fn program_begins(ftl: &mut PageFtl, job: JobId) {
        ByHandle::program_begins(ftl, job);
    }

    fn program_ended(ftl: &mut PageFtl, job: &ProgramInFlight) {
        Folded::program_ended(ftl, job);
    }

    fn program_committed(ftl: &mut PageFtl, flash: &mut Flash, job: &ProgramInFlight) {
        ByHandle::program_committed(ftl, flash, job);
    }

    fn frees(blocks: &BlockManager, victim: SuperBlock) -> bool {
        Folded::frees(blocks, victim)
    }

    fn diagnosis(ftl: &PageFtl, lane: Lane) -> String {
        ByHandle::diagnosis(ftl, lane)
    }
}
