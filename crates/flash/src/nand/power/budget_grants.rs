//! Grants of the power budget, and event handling of an array with observers or a budget.

use super::budget::{Budget, Next};
use super::meter::Meter;
use crate::command::{DieActivity, Effect, EnergyCategory, Step};
use crate::die::{Die, State};
use crate::ids::TxnId;
use crate::nand::Nand;
use crate::nand::register::Register;
use crate::parts::power::Draw;
use interpulse_engine::{Duration, EventQueue, SimTime};

impl Nand {
    /// Meter of the current, if there is one.
    pub fn meter(&mut self) -> Option<&mut Meter> {
        self.observers.meter.as_deref_mut()
    }

    /// Whether data moves on any channel: its bytes count only when their transfer ends.
    pub fn is_moving(&self) -> bool {
        let moves = |(d, die): (usize, &Die)| match die.state() {
            State::Out | State::Load => true,
            State::Retrying => self.sequence_moves(d),
            State::PlaneReads => self.a_plane_moves(d),
            _ => false,
        };
        self.dies.iter().enumerate().any(moves) || self.registers.iter().any(Register::moves)
    }

    /// The budget, if there is one.
    pub fn budget(&self) -> Option<&Budget> {
        self.supply.budget.as_deref()
    }

    /// Starts a new measurement of the current through time, and of the waits for the budget.
    pub fn restart_power(&mut self, now: SimTime) {
        if let Some(meter) = &mut self.observers.meter {
            meter.restart(now);
        }
        if let Some(budget) = &mut self.supply.budget {
            budget.begin_window(now);
        }
    }

    // ---- with observers or a budget ----------------------------------------------------------------

    /// As [`Nand::take`], with observers or a budget.
    #[cold]
    #[inline(never)]
    pub(in crate::nand) fn take_observed(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        id: TxnId,
    ) {
        if self.two_step.is_some() && self.between_steps(events, now, d, id) || self.holds_back(id) {
            return;
        }
        if self.dies[d].state() == State::Idle {
            self.book_idle(now, d);
        }
        let txn = *self.txns.get(id);
        self.take(events, now, d, id, txn.kind.command());
        self.after_event(events, now, d);
        if txn.kind.command().effect == Effect::Programs && txn.is_first_step() {
            self.queue_second_steps(events, d, &txn);
        }
    }

    /// Die `d` is idle no longer: books for how long it was selected.
    pub(in crate::nand) fn book_idle(&mut self, now: SimTime, d: usize) {
        let idle = now.since(self.dies[d].since());
        self.supply.tally.book_selected(idle.min(self.config.power.standby_after));
    }

    /// As [`Nand::on_timer`], with observers or a budget.
    #[cold]
    #[inline(never)]
    pub(in crate::nand) fn on_timer_observed(&mut self, events: &mut EventQueue, index: u32) {
        let now = events.now();
        let (dies, channels) = (self.dies.len() as u32, self.channels.len() as u32);
        let decoders = self.decoders.len() as u32;
        if index < dies {
            self.on_die(events, now, index as usize);
            self.after_event(events, now, index as usize);
        } else if index < dies + channels {
            let d = self.on_channel(events, now, (index - dies) as usize);
            self.after_event(events, now, d);
        } else if index < dies + channels + decoders {
            let c = (index - dies - channels) as usize;
            let d = self.next_decoded(c);
            self.on_decoder(events, now, c);
            self.after_event(events, now, d);
        } else {
            let d = self.on_beside(events, now, (index - dies - channels - decoders) as usize);
            self.after_event(events, now, d);
        }
    }

    /// After an event of die `d`: passes its returned share of the budget on, and reports its changes.
    fn after_event(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        while let Some((next_die, next, waited)) = self.supply.budget.as_mut().and_then(|b| b.next(now)) {
            self.power_granted(events, now, next_die as usize, next, waited);
            self.report_changes(now, next_die as usize);
        }
        self.report_changes(now, d);
    }

    pub(in crate::nand) fn page_bytes(&self) -> u64 {
        self.timing.page_bytes
    }

    // ---- the budget ---------------------------------------------------------------------------------

    /// Whether die `d` may start its next work; if the budget does not allow it, the die is held.
    #[inline]
    pub(in crate::nand) fn may_draw(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        next: Next,
    ) -> bool {
        !self.observed || self.supply.budget.is_none() || self.request_power(events, now, d, next)
    }

    #[cold]
    #[inline(never)]
    fn request_power(&mut self, events: &mut EventQueue, now: SimTime, d: usize, next: Next) -> bool {
        let amount = match next {
            Next::Read => {
                let active = &self.contexts[d].active;
                let types = active.reads[..usize::from(active.count)].iter().map(|&id| {
                    let page = self.txns.get(id).page;
                    self.supply.part.current(Draw::sense((page % self.geometry.pages_per_word_line) as usize))
                });
                let steps: &[Step] = if active.steps_read { active.steps } else { &[] };
                let busy = steps.iter().filter_map(|step| match step {
                    Step::Busy(busy) => Some(self.supply.part.current(busy.draw)),
                    _ => None,
                });
                let most = types.chain(busy).max().expect("a read is active");
                self.budget().expect("there is a budget").sensing(most)
            }
            Next::Retry => {
                let (page_type, _) = self.sequence_page(d);
                let most = self.supply.part.current(Draw::sense(page_type as usize));
                self.budget().expect("there is a budget").sensing(most)
            }
            Next::Step | Next::Resume(_) => {
                let budget = self.budget().expect("there is a budget");
                let op = self.dies[d].long().expect("an operation is on the die");
                let busy = self.contexts[d].active.steps.iter().filter_map(|step| match step {
                    Step::Busy(busy) => Some(budget.sensing(self.supply.part.current(busy.draw))),
                    _ => None,
                });
                busy.fold(budget.train(op.kind), u64::max)
            }
        };
        let budget = self.supply.budget.as_mut().expect("there is a budget");
        if budget.ask(now, d as u32, next, amount) {
            return true;
        }
        // The timer of a hold that ends here must not outlive it.
        events.disarm(self.timer(d));
        // The wait counts as the activity that it delays.
        let (usage, block) = match next {
            Next::Read => self.read_use(d),
            Next::Retry => self.sequence_waits(d),
            Next::Step => (self.load_use(d), self.long_block(d)),
            Next::Resume(_) => (DieActivity::Suspended, self.long_block(d)),
        };
        self.dies[d].go(now, State::Held, usage, block);
        false
    }

    /// Die `d` has its share of the budget.
    fn power_granted(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        next: Next,
        waited: Duration,
    ) {
        self.counters.power_waits += 1;
        self.counters.power_wait_time += waited.as_ns();
        match next {
            Next::Read => {
                for k in 0..usize::from(self.contexts[d].active.count) {
                    let txn = self.txns.get_mut(self.contexts[d].active.reads[k]);
                    txn.held = waited.as_ns();
                    txn.mark = txn.mark + waited;
                }
                if self.contexts[d].active.steps_read {
                    self.next_read_step(events, now, d, now);
                } else {
                    self.command_reads(events, now, d);
                }
            }
            Next::Retry => self.begin_sequence(events, now, d),
            Next::Step => self.take_step(events, now, d, now),
            Next::Resume(reload) => self.leave_now(events, now, d, reload),
        }
    }

    /// A transaction has arrived at held die `d`: if the die waits to resume, and the suspension would have served the
    /// transaction, it is served now.
    #[cold]
    pub(in crate::nand) fn serve_before_resuming(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let resumes = self.budget().expect("a die is held by a budget").waits_to_resume(d as u32);
        if resumes && self.would_serve(now, d) {
            self.supply.budget.as_mut().expect("there is a budget").withdraw(now, d as u32);
            let block = self.long_block(d);
            self.dies[d].go(now, State::Suspended, DieActivity::Suspended, block);
            self.next_on(events, now, d);
        }
    }

    #[inline]
    pub(in crate::nand) fn release_power(&mut self, d: usize) {
        if self.observed
            && let Some(budget) = &mut self.supply.budget
        {
            budget.release(d as u32);
        }
    }

    // ---- bookings -----------------------------------------------------------------------------------

    #[inline]
    pub(in crate::nand) fn book_load(&mut self, d: usize) {
        let op = self.dies[d].long().expect("a program is being loaded");
        let category = if op.suspends > 0 { EnergyCategory::Suspension } else { op.kind.command().category };
        let bytes = self.page_bytes();
        self.supply.tally.book_in(category, bytes);
    }
}
