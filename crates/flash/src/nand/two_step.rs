//! Two-step programming: a coarse first step of each word line and a second one that places the levels (foggy-fine).
//!
//! ```text
//! word line    first step    second step
//!         0        1 -----.       3
//!         1        2       `---> 5          The second step of a word line follows the first one of the next:
//!         2        4                        that would disturb levels placed before.
//! ```
//!
//! The owner submits a program for each word line, as of any part. It ends with its first step; the array then has the data in a
//! buffer of the controller, from which reads are served, and queues the second step behind the first one of the next word line
//! of the block (behind its own, of the last word line).

use super::Nand;
use super::txn::Txn;
use crate::cell_mode::CellMode;
use crate::command::Effect;
use crate::ids::{BlockId, TxnId};
use interpulse_engine::{EventQueue, SimTime};

impl Nand {
    /// Takes new transaction `id` of die `d` if two-step programming decides about it: reads from the buffer of the controller,
    /// and erases that wait for second steps. Programs are marked as first steps.
    #[cold]
    #[inline(never)]
    pub(super) fn between_steps(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        id: TxnId,
    ) -> bool {
        let txn = *self.txns.get(id);
        let two_step = self.two_step.as_deref_mut().expect("the caller has looked");
        match txn.kind.command().effect {
            Effect::Programs if txn.block != BlockId::NONE && txn.cell_mode() == CellMode::Native => {
                if !txn.is_special() {
                    self.txns.get_mut(id).set_first_step();
                }
                false
            }
            Effect::Erases if two_step.erases(d, &txn) => {
                self.txns.remove(id);
                true
            }
            Effect::Reads => self.reads_buffer(events, now, d, id),
            _ => false,
        }
    }

    /// Whether the read `id` is of a word line between its steps: the data comes from the controller, through the decoder.
    fn reads_buffer(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId) -> bool {
        let txn = *self.txns.get(id);
        let two_step = self.two_step.as_deref().expect("the caller has looked");
        let word_line = txn.page - txn.page % self.geometry.pages_per_word_line;
        if !two_step.dies[d].iter().any(|of| of.holds(txn.plane, txn.block, word_line)) {
            return false;
        }
        let txn = self.txns.get_mut(id);
        txn.set(Txn::BUFFERED);
        txn.mark = now;
        let (kind, die, units) = (txn.kind, txn.die, txn.units());
        *kind.count(&mut self.counters) += 1;
        self.counters.two_step_buffer_reads += 1;
        let latency = match &self.reliability {
            None => self.config.ecc_latency,
            Some(reliability) => reliability.latency_without_errors(),
        };
        let channel = self.geometry.channel_of(die) as usize;
        let codewords = units * self.geometry.codewords_per_unit();
        if let Some(at) = self.decoders[channel].enter(now, id, codewords, latency) {
            events.arm(self.decoder_timer(channel), at);
        }
        true
    }

    /// The first step of `first` has been queued on die `d`: queues the second steps that follow it.
    #[cold]
    #[inline(never)]
    pub(super) fn queue_second_steps(&mut self, events: &mut EventQueue, d: usize, first: &Txn) {
        let two_step = self.two_step.as_deref_mut().expect("the caller has looked");
        let before = two_step.program_queued(d, first);
        let last = first.page + self.geometry.pages_per_word_line == self.geometry.pages_per_block();
        if last {
            two_step.last_queued(d, first);
        }
        for page in before.into_iter().chain(last.then_some(first.page)) {
            let mut second = Txn::new(first.kind, first.die);
            (second.plane, second.planes) = (first.plane, first.planes);
            (second.block, second.page) = (first.block, page);
            second.set_cycles(first.cycles());
            second.set_second_step();
            self.submit(events, second);
        }
    }

    /// Checks that the second step on die `d` follows the first one of the next word line.
    #[cold]
    #[inline(never)]
    pub(super) fn check_second_step(&mut self, now: SimTime, d: usize, txn: &Txn) {
        let next = txn.page + 2 * self.geometry.pages_per_word_line;
        let least = next.min(self.geometry.pages_per_block());
        self.dies[d].check_second_step(now, txn.planes(), txn.block, least);
        self.counters.second_steps += 1;
    }

    /// Pages that the step `txn` loads on each plane.
    pub(super) fn pages_of_step(&self, txn: &Txn) -> Option<u32> {
        let two_step = self.two_step.as_deref()?;
        (txn.is_first_step() || txn.is_second_step()).then(|| two_step.pages(txn))
    }

    /// The second step `id` on die `d` has ended; no one is notified.
    #[cold]
    #[inline(never)]
    pub(super) fn second_step_ended(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId) {
        let txn = self.txns.remove(id);
        let two_step = self.two_step.as_deref_mut().expect("a second step has ended");
        let erase = two_step.ended(d, &txn);
        self.next_on(events, now, d);
        if let Some(erase) = erase {
            self.submit(events, erase);
        }
    }
}
