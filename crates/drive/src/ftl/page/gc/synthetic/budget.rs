//! Synthetic write amplification: WAF - 1 extra programs per host program, on randomly drawn dies.

use crate::ftl::page::gc::victim::Imposed;
use crate::numbers::{Lane, Ppu};
use interpulse_engine::{Rng, Streams};

/// Extra operations still due.
pub(crate) struct SyntheticPrograms {
    spec: Imposed,
    credit: f64,
    /// Chooses the dies of extra programs.
    rng: Rng,
    /// Chooses the pages that extra programs copy.
    copies: Rng,
    /// Probability that a unit of a victim is valid, scaled to 64 bits.
    valid: u64,
    lanes: Vec<ImposedLane>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ImposedLane {
    /// Next page of the block being copied, and the number of its pages left.
    pub(crate) next: Ppu,
    pub(crate) left: u32,
    /// Valid units read and not yet programmed.
    relocating: u32,
    /// Fraction of a read still due, where the configuration gives the number of reads.
    owed: f64,
    programs: u32,
}

impl SyntheticPrograms {
    /// Staggers the first erase of each lane: its counter starts anywhere below `programs_per_block`.
    pub(crate) fn new(
        spec: Imposed,
        lanes: u32,
        programs_per_block: u32,
        streams: &Streams,
    ) -> SyntheticPrograms {
        let mut copies = streams.stream("imposed", 1);
        let begun = |_| ImposedLane {
            programs: copies.below(u64::from(programs_per_block)) as u32,
            ..ImposedLane::default()
        };
        let lanes = (0..lanes).map(begun).collect();
        let valid = Rng::threshold(spec.valid_share());
        SyntheticPrograms { spec, credit: 0.0, rng: streams.stream("imposed", 0), copies, valid, lanes }
    }

    pub(crate) fn earn(&mut self) {
        self.credit += self.spec.waf - 1.0;
    }

    pub(crate) fn next(&mut self) -> Option<Lane> {
        if self.credit < 1.0 {
            return None;
        }
        self.credit -= 1.0;
        Some(Lane(self.rng.below(self.lanes.len() as u64) as u32))
    }

    /// Valid units of each page read before an extra program of `program` units on `lane`, at `page` units a page.
    pub(crate) fn reads(&mut self, lane: Lane, program: u32, page: u32, pages: &mut Vec<u32>) {
        let of = &mut self.lanes[lane.index()];
        pages.clear();
        if let Some(reads) = self.spec.reads {
            of.owed += reads;
            let each = (f64::from(program) / reads).clamp(1.0, f64::from(page));
            while of.owed >= 1.0 {
                of.owed -= 1.0;
                pages.push(libm::round(each) as u32);
            }
            return;
        }
        while of.relocating < program {
            let units = (0..page).map(|_| u32::from(self.copies.chance(self.valid))).sum();
            if units > 0 {
                of.relocating += units;
                pages.push(units);
            }
        }
        of.relocating -= program;
    }

    pub(crate) fn lane(&mut self, lane: Lane) -> &mut ImposedLane {
        &mut self.lanes[lane.index()]
    }

    pub(crate) fn draw(&mut self, n: u32) -> u32 {
        self.copies.below(u64::from(n)) as u32
    }

    /// Counts a program on `lane`; true if it begins a new block, which needs an erase first.
    pub(crate) fn begins_block(&mut self, lane: Lane, programs_per_block: u32) -> bool {
        if !self.spec.erases {
            return false;
        }
        let of = &mut self.lanes[lane.index()];
        of.programs += 1;
        let due = of.programs == programs_per_block;
        if due {
            of.programs = 0;
        }
        due
    }
}
