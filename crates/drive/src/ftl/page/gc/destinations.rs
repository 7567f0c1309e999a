//! Destinations of moved data, a line each, and the calls of the collector to the one that a drive has.

use crate::ftl::flash::Flash;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::gc::destination::Destination;
use crate::ftl::page::gc::state::{DestinationKind, Victim};
use crate::ftl::page::mapping::cached::collection::WithTranslationPages;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::placement::collection::ByHandle;
use crate::ftl::page::slc::folding::Folded;
use crate::ftl::page::slc::folding_by_handle::FoldedByHandle;
use crate::ftl::page::wear::collection::WithFailures;
use crate::ftl::page::write_back::in_flight::{GcRead, ProgramInFlight};
use crate::numbers::{JobId, Lane, SuperBlock};

/// A drive whose moved data all goes to [`Stream::GC`].
struct OneStream;

impl Destination for OneStream {}

/// Calls a function of the destination of a drive.
macro_rules! at {
    ($ftl:ident.$name:ident($($arg:expr),*)) => {
        match $ftl.collection.destination {
            DestinationKind::OneStream => OneStream::$name($($arg),*),
            DestinationKind::Folded => Folded::$name($($arg),*),
            DestinationKind::FoldedByHandle => FoldedByHandle::$name($($arg),*),
            DestinationKind::ByHandle => ByHandle::$name($($arg),*),
            DestinationKind::WithTranslationPages => WithTranslationPages::$name($($arg),*),
            DestinationKind::WithFailures => WithFailures::$name($($arg),*),
        }
    };
}

/// The functions of [`Destination`].
impl PageFtl {
    #[inline(always)]
    pub(super) fn has_other_work(&self, lane: Lane) -> bool {
        at!(self.has_work(self, lane))
    }

    #[inline(always)]
    pub(super) fn take_other_victim(&mut self, flash: &mut Flash, lane: Lane) -> bool {
        at!(self.take_victim(self, flash, lane))
    }

    #[inline]
    pub(crate) fn fits(&self, lane: Lane, victim: SuperBlock) -> bool {
        at!(self.fits(self, lane, victim))
    }

    #[inline(always)]
    pub(super) fn keeps_free(&self, lane: Lane) -> u32 {
        at!(self.keeps_free(self, lane))
    }

    /// A victim whose reads begin.
    #[inline(always)]
    pub(crate) fn victim(&mut self, lane: Lane, super_block: SuperBlock) -> Victim {
        at!(self.victim_begins(self, lane, super_block));
        Victim::new(super_block, at!(self.gathers_apart(&self.blocks, super_block)))
    }

    #[inline(always)]
    pub(super) fn victim_chosen(&mut self, victim: SuperBlock) {
        at!(self.victim_chosen(self, victim));
    }

    #[cold]
    pub(super) fn page_read_apart(&mut self, flash: &mut Flash, read: GcRead) {
        at!(self.page_read(self, flash, read));
    }

    #[inline(always)]
    pub(super) fn program_apart(&mut self, flash: &mut Flash, lane: Lane) {
        at!(self.program_apart(self, flash, lane));
    }

    #[inline(always)]
    pub(crate) fn program_rest(&mut self, flash: &mut Flash, lane: Lane) {
        at!(self.program_rest(self, flash, lane));
    }

    #[inline(always)]
    pub(super) fn gc_stream(&self, lane: Lane) -> Stream {
        at!(self.stream(self, lane))
    }

    #[inline(always)]
    pub(super) fn gc_program_begins(&mut self, job: JobId) {
        at!(self.program_begins(self, job));
    }

    #[inline(always)]
    pub(super) fn gc_program_ended(&mut self, job: &ProgramInFlight) {
        at!(self.program_ended(self, job));
    }

    #[inline(always)]
    pub(super) fn gc_program_committed(&mut self, flash: &mut Flash, job: &ProgramInFlight) {
        at!(self.program_committed(self, flash, job));
    }

    #[inline(always)]
    pub(crate) fn frees(&self, victim: SuperBlock) -> bool {
        at!(self.frees(&self.blocks, victim))
    }

    #[inline(always)]
    pub(super) fn block_erased(&mut self, flash: &mut Flash, super_block: SuperBlock) {
        at!(self.erased(self, flash, super_block));
    }

    #[inline(always)]
    pub(super) fn space_freed(&mut self, flash: &mut Flash) {
        at!(self.space_freed(self, flash));
    }

    pub(super) fn destination_diagnosis(&self, lane: Lane) -> String {
        at!(self.diagnosis(self, lane))
    }
}
