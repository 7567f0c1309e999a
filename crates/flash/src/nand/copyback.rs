//! Copyback: a program of pages that the die senses itself (ONFI: Copyback Read, Copyback Program).
//!
//! The pages come from the planes that are programmed, and only commands use the channel. Nothing corrects the data: the raw
//! bit errors of a source are those of its copy, on which its own come.

use super::Nand;
use super::channel::Transfer;
pub use super::copy_source::Source;
use super::joined_programs::may_share;
use super::txn::Txn;
use crate::command::{DieActivity, Kind, Step};
use crate::die::State;
use crate::geometry::{BlockAddress, PageAddress};
use interpulse_engine::{Duration, EventQueue, SimTime};

impl Nand {
    /// Submits `txn`, a program of moved data, as a copyback of `sources`: for each plane of the program in turn one source for
    /// each of its pages.
    pub fn submit_copyback(&mut self, events: &mut EventQueue, mut txn: Txn, sources: &[Source]) {
        let pages = self.geometry.pages_per_program(txn.cell_mode()) as usize;
        assert_eq!(sources.len(), pages * usize::from(txn.planes), "a source for each page of a copyback");
        assert!(!txn.kind.command().copyback.is_empty(), "{:?} is never a copyback", txn.kind);
        txn.set_copyback();
        let key = self.txns.next_key().index();
        if key >= self.copies.len() {
            self.copies.resize_with(key + 1, Vec::new);
        }
        self.copies[key].clear();
        self.copies[key].extend_from_slice(sources);
        self.submit(events, txn);
    }

    /// The sources of the copyback on die `d` that are sensed together, `left` rounds before the end, as reads.
    fn sources_of_round(&self, d: usize, left: u32) -> impl Iterator<Item = Txn> + use<> {
        let id = self.contexts[d].active.long;
        let txn = *self.txns.get(id);
        let pages = self.copies[id.index()].len() / usize::from(txn.planes);
        let round = self.copies[id.index()].clone().into_iter().skip(pages - left as usize).step_by(pages);
        (txn.plane..).zip(round).map(move |(plane, source)| {
            let mut read = Txn::new(Kind::GcRead, txn.die);
            (read.plane, read.block, read.page) = (plane, source.block, source.page);
            read.set_cell_mode(source.mode);
            read
        })
    }

    /// Senses the next page of each plane of the copyback on die `d` from `start` on. Pages whose addresses planes may share are
    /// sensed together, others one after the other.
    #[cold]
    #[inline(never)]
    pub(super) fn sense_sources(&mut self, events: &mut EventQueue, d: usize, start: SimTime) {
        let now = events.now();
        let left = self.contexts[d].active.loads;
        let types = self.geometry.pages_per_word_line;
        let reads: Vec<Txn> = self.sources_of_round(d, left).collect();
        let together = reads.iter().all(|read| may_share(self.plane_address, &reads[0], read, types));
        let (mut longest, mut sum) = (Duration::ZERO, Duration::ZERO);
        for read in &reads {
            self.dies[d].check_read(now, read.plane.into(), read.block, read.page);
            let time = read.sensing(&self.timing, (read.page % types) as usize);
            (longest, sum) = (longest.max(time), sum + time);
        }
        self.counters.copyback_pages += reads.len() as u64;
        let active = &mut self.contexts[d].active;
        active.loads -= 1;
        let op = self.dies[d].long().expect("a copyback is on the die");
        let (steps, again) = (op.kind.command().copyback, op.suspends > 0);
        if !again && active.loads > 0 {
            active.steps = steps;
        }
        if !again {
            self.carry_errors(now, d, &reads, left);
        }
        let usage = self.sensing_use(d);
        let block = self.long_block(d);
        self.dies[d].go(now, State::Busy, usage, block);
        events.arm(self.timer(d), start + if together { longest } else { sum });
    }

    fn sensing_use(&self, d: usize) -> DieActivity {
        let op = self.dies[d].long().expect("a copyback is on the die");
        if op.suspends > 0 { DieActivity::Suspended } else { DieActivity::SenseGc }
    }

    /// The pages that the copyback on die `d` programs have the bit errors of these sources, `left` rounds before the end.
    fn carry_errors(&mut self, now: SimTime, d: usize, reads: &[Txn], left: u32) {
        let Some(reliability) = &mut self.reliability else { return };
        let id = self.contexts[d].active.long;
        let txn = self.txns.get(id);
        let pages = self.geometry.pages_per_program(txn.cell_mode());
        for read in reads {
            let plane = u32::from(read.plane);
            let extra = self.dies[d].blocks().stress_cycles(plane, read.block);
            let to = BlockAddress { die: txn.die, plane, block: txn.block };
            let to = PageAddress { of: to, page: txn.page + pages - left };
            reliability.copied(read, extra, to, now);
        }
    }

    /// Reads of a suspension have used the page buffer: the copyback on die `d` senses its pages again.
    #[cold]
    #[inline(never)]
    pub(super) fn sense_sources_again(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let pages = self.dies[d].long().expect("a copyback is suspended").pages.count;
        let active = &mut self.contexts[d].active;
        (active.loads, active.reload_from) = (pages, now);
        (active.count, active.moved) = (0, 0);
        self.sense_round_again(events, now, d);
    }

    fn sense_round_again(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        self.contexts[d].active.steps = &[Step::SenseSource];
        let (usage, block) = (self.load_use(d), self.long_block(d));
        self.dies[d].go(now, State::Command, usage, block);
        self.request_bus(events, now, d, Transfer::Command, self.command_time(d));
    }

    /// The suspended copyback on die `d` has sensed a page of each plane again.
    #[cold]
    #[inline(never)]
    pub(super) fn sources_sensed_again(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        if self.contexts[d].active.loads > 0 {
            self.sense_round_again(events, now, d);
        } else {
            self.reloaded(events, now, d);
        }
    }
}

impl Txn {
    /// Steps of a program that is not of a whole word line in one step.
    #[cold]
    #[inline(never)]
    pub(super) fn special_steps(&self) -> &'static [Step] {
        let command = self.kind.command();
        match self.reprograms() {
            Some(_) => command.reprogram,
            None if self.is_copyback() => command.copyback,
            None => command.steps,
        }
    }
}
