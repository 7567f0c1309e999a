//! Programs and FTL page reads in flight.

use crate::ftl::page::blocks::program_address::ProgramAddress;
use crate::ftl::page::mapping::relocation::Relocation;
use crate::numbers::{GcReadId, JobId, Lane, Ppu, Slot, SuperBlock};
use interpulse_engine::Slab;

/// Program operation in flight.
#[derive(Clone, Debug, Default)]
pub struct ProgramInFlight {
    /// Lane of the program.
    pub lane: Lane,
    /// Address; `None` for synthetic programs.
    pub place: Option<ProgramAddress>,
    /// Cache slots of its host data, which comes first.
    pub slots: Vec<Slot>,
    /// Relocated units.
    pub moved: Vec<Relocation>,
    /// For a reprogram: pages of the word line in use.
    pub validity: u8,
    /// Pages still being read for it.
    pub reads: u32,
    /// Candidate that holds these pages.
    pub candidate: Option<SuperBlock>,
    /// The die senses its data itself.
    pub copyback: bool,
}

impl ProgramInFlight {
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
    /// Garbage collection of a victim whose units are gathered apart.
    CollectApart,
    /// A program that relocates the page's units.
    Program(JobId),
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

/// Operations in flight, addressed by index; freed programs keep their buffers for reuse.
#[derive(Clone, Default)]
pub struct InFlight {
    programs: Vec<ProgramInFlight>,
    free_programs: Vec<JobId>,
    /// Page reads in flight.
    pub reads: Slab<GcReadId, GcRead>,
}

impl InFlight {
    /// Adds a program without units.
    #[inline]
    pub fn new_program(&mut self, lane: Lane, place: Option<ProgramAddress>) -> JobId {
        let id = self.free_programs.pop().unwrap_or_else(|| {
            self.programs.push(ProgramInFlight::default());
            JobId(self.programs.len() as u32 - 1)
        });
        let job = &mut self.programs[id.index()];
        job.lane = lane;
        job.place = place;
        job.slots.clear();
        job.moved.clear();
        (job.validity, job.reads, job.candidate, job.copyback) = (0, 0, None, false);
        id
    }

    /// Program `id`.
    #[inline]
    pub fn program(&mut self, id: JobId) -> &mut ProgramInFlight {
        &mut self.programs[id.index()]
    }

    /// Programs in flight.
    pub fn in_flight(&self) -> impl Iterator<Item = &ProgramInFlight> {
        let mut free = vec![false; self.programs.len()];
        self.free_programs.iter().for_each(|id| free[id.index()] = true);
        self.programs.iter().zip(free).filter(|(_, free)| !free).map(|(program, _)| program)
    }

    /// Takes the program out, to be returned by [`InFlight::free_program`].
    #[inline]
    pub fn take_program(&mut self, id: JobId) -> ProgramInFlight {
        std::mem::take(&mut self.programs[id.index()])
    }

    /// Frees a program, keeping its buffers.
    #[inline]
    pub fn free_program(&mut self, id: JobId, job: ProgramInFlight) {
        self.programs[id.index()] = job;
        self.free_programs.push(id);
    }
}
