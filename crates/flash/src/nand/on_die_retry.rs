//! Retry inside a die (RiF): after a sensing the die predicts whether decoding will fail, and if so senses again at once.
//!
//! The failed data moves over no bus and enters no decoder. The controller notices only a longer tR: the die serves nothing
//! else meanwhile, and all of the time is sensing of the read. Pages sensed together are judged together, each plane by an
//! engine of its own, and those that fail are sensed again together. The last permitted sensing is not judged. A read whose
//! decode fails all the same is retried by the controller ([`super::retry`]), whose sensings the die does not judge.

use super::Nand;
use super::planes::{Plane, Step};
use super::repeats::Repeats;
use super::sequence::NEVER;
use super::txn::Txn;
use crate::command::Wait;
use crate::die::State;
use crate::errors::OnDie;
use crate::ids::TxnId;
use interpulse_engine::{Duration, EventQueue, SimTime};

impl Nand {
    fn repeating(&self) -> Option<OnDie> {
        self.reliability.as_ref()?.ecc.retry.on_die().copied()
    }

    /// Planes whose sensing die `d` repeats; zero unless it does.
    pub(super) fn repeated_planes(&self, d: usize) -> u64 {
        let repeats = self.reliability.as_ref().and_then(|reliability| reliability.repeats.get(d));
        repeats.map_or(0, |repeats| repeats.sensed)
    }

    /// Sensing time of `txn` when a die repeats it.
    pub(super) fn repeated_sensing(&self, txn: &Txn) -> Duration {
        let page_type = txn.page % self.geometry.pages_per_word_line;
        let ecc = &self.reliability.as_ref().expect("sensings with errors are repeated").ecc;
        ecc.retry_sensing(txn.sensing(&self.timing, page_type as usize))
    }

    // ---- reads of a die -----------------------------------------------------------------------------

    /// Die `d` has sensed, and predicts or uses its cache register. Returns false if the data moves out of the page buffer.
    #[cold]
    #[inline(never)]
    pub(super) fn after_sensing(&mut self, events: &mut EventQueue, now: SimTime, d: usize) -> bool {
        if self.predict(events, now, d) {
            return true;
        }
        if self.observed {
            self.release_power(d);
        }
        self.geometry.cache_reads && self.move_to_register(events, now, d)
    }

    /// Die `d` has sensed: begins the prediction, if there is one.
    fn predict(&mut self, events: &mut EventQueue, now: SimTime, d: usize) -> bool {
        let Some(on_die) = self.repeating() else { return false };
        let active = self.contexts[d].active;
        let reads = &active.reads[..usize::from(active.count)];
        let repeats = self.repeats(d);
        let last = u32::from(repeats.times) == on_die.most;
        let (mut judged, mut failing) = (false, 0);
        for &id in reads {
            let txn = self.txns.get(id);
            let plane = 1 << txn.plane;
            let sensed = repeats.times == 0 || repeats.sensed & plane != 0;
            if sensed && !txn.is(Txn::BUFFERED) {
                judged = true;
                failing |= if self.judge_on_die(now, d, id) { plane } else { 0 };
            }
        }
        if last || !judged {
            self.set_repeats(d, Repeats::default());
            return false;
        }
        self.set_repeats(d, Repeats { failing, ..repeats });
        for &id in reads {
            self.txns.get_mut(id).waits[Wait::Sensing as usize] += on_die.prediction.as_ns();
        }
        let first = self.txns.get(reads[0]);
        let (usage, block) = (first.kind.command().array, first.block);
        self.dies[d].go(now, State::Predicting, usage, block);
        events.arm(self.timer(d), now + on_die.prediction);
        true
    }

    /// Die `d` has predicted: it senses again what it takes for uncorrectable, or the data moves.
    #[cold]
    #[inline(never)]
    pub(super) fn predicted(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let active = self.contexts[d].active;
        let reads = &active.reads[..usize::from(active.count)];
        let Repeats { times, sensed, failing } = self.repeats(d);
        let (mut longest, mut of) = (Duration::ZERO, 0);
        for &id in reads {
            let txn = *self.txns.get(id);
            let plane = 1 << txn.plane;
            if txn.is(Txn::BUFFERED) || times > 0 && sensed & plane == 0 {
                continue;
            }
            self.count_prediction(id, failing & plane != 0);
            let time = self.repeated_sensing(&txn);
            if failing & plane != 0 && time >= longest {
                (longest, of) = (time, txn.page % self.geometry.pages_per_word_line);
            }
        }
        let first = self.txns.get(reads[0]);
        let (kind, block) = (first.kind, first.block);
        if failing == 0 {
            self.set_repeats(d, Repeats::default());
            self.sensing_over(events, now, d);
            return;
        }
        self.set_repeats(d, Repeats { times: times + 1, sensed: failing, failing: 0 });
        for &id in reads {
            self.txns.get_mut(id).waits[Wait::Sensing as usize] += longest.as_ns();
        }
        self.supply.tally.book_sensing(kind, of, longest);
        self.dies[d].go(now, State::Sensing, kind.command().array, block);
        events.arm(self.timer(d), now + longest);
    }

    /// The sensings of die `d` are over: as [`Nand::after_sensing`] without a prediction, then the data moves.
    fn sensing_over(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        if self.observed {
            self.release_power(d);
        }
        if self.geometry.cache_reads && self.move_to_register(events, now, d) {
            return;
        }
        let (usage, block) = self.read_use(d);
        self.dies[d].go(now, State::OutWait, usage, block);
        self.request_out(events, now, d);
    }

    fn count_prediction(&mut self, id: TxnId, repeats: bool) {
        let reliability = self.reliability.as_mut().expect("a die has predicted");
        reliability.predicted(self.txns.get_mut(id), repeats);
    }

    fn repeats(&self, d: usize) -> Repeats {
        self.reliability.as_ref().expect("the die predicts").repeats[d]
    }

    fn set_repeats(&mut self, d: usize, repeats: Repeats) {
        self.reliability.as_mut().expect("the die predicts").repeats[d] = repeats;
    }

    // ---- planes that read on their own --------------------------------------------------------------

    /// A plane of die `d` has sensed, or predicted. Returns whether it continues before its data moves.
    #[cold]
    #[inline(never)]
    pub(super) fn plane_continues(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        plane: u8,
    ) -> bool {
        let Some(on_die) = self.repeating() else { return false };
        let of = *self.plane_reads.plane(d, plane);
        let (next, time) = if of.step == Step::Senses {
            let judged = !self.txns.get(of.id).is(Txn::BUFFERED);
            let fails = judged && self.judge_on_die(now, d, of.id);
            if !judged || u32::from(of.repeats) == on_die.most {
                return false;
            }
            (Plane { step: Step::Predicts, from: NEVER, fails, ..of }, on_die.prediction)
        } else {
            self.count_prediction(of.id, of.fails);
            if !of.fails {
                return false;
            }
            let time = self.repeated_sensing(self.txns.get(of.id));
            (Plane { step: Step::Senses, from: now, repeats: of.repeats + 1, ..of }, time)
        };
        *self.plane_reads.plane(d, plane) = next;
        self.txns.get_mut(of.id).waits[Wait::Sensing as usize] += time.as_ns();
        events.arm(self.plane_timer(d, plane), now + time);
        self.show_leading(now, d);
        true
    }
}
