//! What is true at the instant a victim is chosen.

use interpulse_drive::ftl::page::blocks::program_address::ProgramAddress;
use interpulse_drive::ftl::page::mapping::table::Where;
use interpulse_drive::ftl::{BlockManager, Stream};
use interpulse_drive::numbers::{Lane, Lpn};

/// The steps of preconditioning on one lane, with a look at every choice of a victim.
pub struct Witness {
    pub ftl: BlockManager,
    /// Program operations being filled, with the units in them.
    partial: [Option<(ProgramAddress, u32)>; 2],
    pub choices: u64,
    /// Sum over choices of the units of closed blocks and the written ones of open blocks.
    pub held: u64,
}

impl Witness {
    /// Starts on `ftl`, which has one lane.
    pub fn new(ftl: BlockManager) -> Witness {
        assert_eq!(ftl.layout.lanes, 1);
        Witness { ftl, partial: [None; 2], choices: 0, held: 0 }
    }

    /// Writes one unit.
    pub fn write(&mut self, lpn: Lpn) {
        if self.partial[Stream::HOST.index()].is_none() {
            while self.ftl.wants_gc(Lane(0)) && self.collect() {}
        }
        if let Where::Flash(ppu) = self.ftl.map().get(lpn) {
            self.ftl.forget_flash(ppu);
        }
        self.put(Stream::HOST, lpn);
        self.ftl.counters.host_units += 1;
    }

    fn put(&mut self, stream: Stream, lpn: Lpn) {
        let partial = self.partial[stream.index()];
        let (place, filled) = partial.unwrap_or_else(|| (self.ftl.take_address(Lane(0), stream).unwrap(), 0));
        let offset = place.first_offset + filled;
        self.ftl.write(lpn, place.super_block, offset);
        let full = filled + 1 == self.ftl.layout.units_per_program;
        self.partial[stream.index()] = (!full).then_some((place, filled + 1));
        if full {
            self.ftl.program_done(place.super_block);
        }
    }

    fn collect(&mut self) -> bool {
        let program = self.ftl.layout.units_per_program;
        let programs: u32 = self.ftl.programs_done().iter().sum();
        let missing: u32 = self.partial.iter().flatten().map(|(_, filled)| program - filled).sum();
        let Some(victim) = self.ftl.choose_victim(Lane(0)) else { return false };
        self.held += u64::from(programs * program - missing);
        self.choices += 1;
        let first = self.ftl.layout.first_unit(victim);
        for offset in 0..self.ftl.layout.units_per_block {
            if self.ftl.map().is_valid(victim, offset) {
                self.ftl.forget_flash(first + offset);
                self.put(Stream::GC, self.ftl.map().logical(first + offset));
                self.ftl.counters.gc_units += 1;
            }
        }
        self.ftl.erased(victim);
        true
    }
}
