//! What the drive remembers about operations it has given to the flash array.

use crate::ftl::page::blocks::program_address::ProgramPlace;
use crate::ftl::page::mapping::relocation::Moved;
use crate::numbers::{GcReadId, JobId, Lane, Ppu, Slot, SuperBlock};
use interpulse_engine::{RequestId, Slab};

/// A program operation under way.
#[derive(Clone, Debug, Default)]
pub struct ProgramJob {
    /// Lane it goes to.
    pub lane: Lane,
    /// Where it goes; `None` for operations without an address (imposed write amplification).
    pub place: Option<ProgramPlace>,
    /// Host data, which comes first: the slots of the cache that it is in.
    pub slots: Vec<Slot>,
    /// Moved data.
    pub moved: Vec<Moved>,
    /// A reprogram: which pages of the word line are in use.
    pub validity: u8,
    /// Pages being read for it.
    pub reads: u32,
    /// The candidate they are in.
    pub candidate: Option<SuperBlock>,
}

impl ProgramJob {
    /// Units of the program that hold data.
    #[inline]
    pub fn units(&self) -> usize {
        self.slots.len() + self.moved.len()
    }
}

/// Purpose of a page read of the FTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Garbage collection.
    #[default]
    Collect,
    /// A program that takes the page along.
    Program(JobId),
    /// Map entries that a command of the host waits for.
    Map(RequestId),
}

/// A page read of the FTL in flight.
#[derive(Clone, Copy, Debug, Default)]
pub struct GcRead {
    /// Lane of the page.
    pub lane: Lane,
    /// First physical unit of the page.
    pub first_ppu: Ppu,
    /// Units of the page that were valid, one bit each.
    pub mask: u32,
    /// What the page is read for.
    pub purpose: Purpose,
}

/// Jobs addressed by index; freed ones keep their buffers for reuse.
#[derive(Clone, Default)]
pub struct Jobs {
    programs: Vec<ProgramJob>,
    free_programs: Vec<JobId>,
    /// Reads of garbage collection under way.
    pub reads: Slab<GcReadId, GcRead>,
}

impl Jobs {
    /// A program job with empty lists.
    #[inline]
    pub fn new_program(&mut self, lane: Lane, place: Option<ProgramPlace>) -> JobId {
        let id = self.free_programs.pop().unwrap_or_else(|| {
            self.programs.push(ProgramJob::default());
            JobId(self.programs.len() as u32 - 1)
        });
        let job = &mut self.programs[id.index()];
        job.lane = lane;
        job.place = place;
        job.slots.clear();
        job.moved.clear();
        (job.validity, job.reads, job.candidate) = (0, 0, None);
        id
    }

    /// The program job `id`.
    #[inline]
    pub fn program(&mut self, id: JobId) -> &mut ProgramJob {
        &mut self.programs[id.index()]
    }

    /// Takes the job out, to be given back by [`Jobs::free_program`].
    #[inline]
    pub fn take_program(&mut self, id: JobId) -> ProgramJob {
        std::mem::take(&mut self.programs[id.index()])
    }

    /// Frees a program job, keeping its buffers.
    #[inline]
    pub fn free_program(&mut self, id: JobId, job: ProgramJob) {
        self.programs[id.index()] = job;
        self.free_programs.push(id);
    }
}
