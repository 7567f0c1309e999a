//! What the dies may draw: waiting for a share of the budget, and telling on what has happened to a die.

use super::budget::{Budget, Next, Waits};
use super::meter::Meter;
use crate::command::{Spender, Step, Use};
use crate::die::{Die, State};
use crate::nand::Nand;
use crate::nand::register::Register;
use crate::numbers::TxnId;
use crate::parts::power::Draw;
use interpulse_engine::{Agenda, Duration, SimTime};

impl Nand {
    /// What has been drawn through time, if that is followed.
    pub fn meter(&mut self) -> Option<&mut Meter> {
        self.watch.meter.as_deref_mut()
    }

    /// Whether data moves on any channel: its bytes count only when their transfer ends.
    pub fn is_moving(&self) -> bool {
        let moves = |(d, die): (usize, &Die)| match die.state() {
            State::Out | State::Load => true,
            State::Retrying => self.sequence_moves(d),
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
        if let Some(meter) = &mut self.watch.meter {
            meter.restart(now);
        }
        if let Some(budget) = &mut self.supply.budget {
            budget.waits = Waits::default();
        }
    }

    // ---- watched ------------------------------------------------------------------------------------

    /// As submitting, with somebody who wants to know.
    #[cold]
    #[inline(never)]
    pub(in crate::nand) fn take_watched(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: TxnId) {
        if self.dies[d].state() == State::Idle {
            self.book_idle(now, d);
        }
        let command = self.txns.get(id).kind.command();
        self.take(agenda, now, d, id, command);
        self.watch(agenda, now, d);
    }

    /// Die `d` is idle no longer: books for how long it was selected.
    pub(in crate::nand) fn book_idle(&mut self, now: SimTime, d: usize) {
        let idle = now.since(self.dies[d].since());
        self.supply.tally.book_selected(idle.min(self.config.power.standby_after));
    }

    /// As handling a timer, with somebody who wants to know.
    #[cold]
    #[inline(never)]
    pub(in crate::nand) fn on_timer_watched(&mut self, agenda: &mut Agenda, index: u32) {
        let now = agenda.now();
        let (dies, channels) = (self.dies.len() as u32, self.channels.len() as u32);
        if index < dies {
            self.on_die(agenda, now, index as usize);
            self.watch(agenda, now, index as usize);
        } else if index < dies + channels {
            let d = self.on_channel(agenda, now, (index - dies) as usize);
            self.watch(agenda, now, d);
        } else if index < dies + 2 * channels {
            let c = (index - dies - channels) as usize;
            let d = self.next_decoded(c);
            self.on_decoder(agenda, now, c);
            self.watch(agenda, now, d);
        } else {
            let d = (index - dies - 2 * channels) as usize;
            self.on_register(agenda, now, d);
            self.watch(agenda, now, d);
        }
    }

    /// Something has happened to die `d`: gives on what it gave back of the budget, and tells on what it did.
    fn watch(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        while let Some((next_die, next, waited)) = self.supply.budget.as_mut().and_then(|b| b.next(now)) {
            self.go_on(agenda, now, next_die as usize, next, waited);
            self.look_at(now, next_die as usize);
        }
        self.look_at(now, d);
    }

    /// Bytes of a page with its parity.
    pub(in crate::nand) fn page_bytes(&self) -> u64 {
        self.timing.page_bytes
    }

    // ---- the budget ---------------------------------------------------------------------------------

    /// Whether die `d` may do what comes next; if the budget does not allow it now, the die is held until it does.
    #[inline]
    pub(in crate::nand) fn may_draw(
        &mut self,
        agenda: &mut Agenda,
        now: SimTime,
        d: usize,
        next: Next,
    ) -> bool {
        !self.watched || self.supply.budget.is_none() || self.ask_for_power(agenda, now, d, next)
    }

    #[cold]
    #[inline(never)]
    fn ask_for_power(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, next: Next) -> bool {
        let amount = match next {
            Next::Read => {
                let hand = &self.bays[d].hand;
                let types = hand.reads[..usize::from(hand.count)].iter().map(|&id| {
                    let page = self.txns.get(id).page;
                    self.supply.part.current(Draw::sense((page % self.geometry.pages_per_word_line) as usize))
                });
                let most = types.max().expect("a read is in hand");
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
                let busy = self.bays[d].hand.steps.iter().filter_map(|step| match step {
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
        agenda.disarm(self.timer(d));
        // To those who wait behind it, it is what it is about to do.
        let (usage, block) = match next {
            Next::Read => self.read_use(d),
            Next::Retry => self.sequence_waits(d),
            Next::Step => (self.load_use(d), self.long_block(d)),
            Next::Resume(_) => (Use::Suspended, self.long_block(d)),
        };
        self.dies[d].go(now, State::Held, usage, block);
        false
    }

    /// Die `d` has a share of the budget at last.
    fn go_on(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, next: Next, waited: Duration) {
        self.counters.power_waits += 1;
        self.counters.power_wait_time += waited.as_ns();
        match next {
            Next::Read => {
                for k in 0..usize::from(self.bays[d].hand.count) {
                    let txn = self.txns.get_mut(self.bays[d].hand.reads[k]);
                    txn.held = waited.as_ns();
                    txn.mark = txn.mark + waited;
                }
                self.command_reads(agenda, now, d);
            }
            Next::Retry => self.begin_sequence(agenda, now, d),
            Next::Step => self.take_step(agenda, now, d, now),
            Next::Resume(reload) => self.leave_now(agenda, now, d, reload),
        }
    }

    /// Something has arrived at die `d`, which is held: if it waits to resume, and the suspension would have served what has
    /// arrived, it is served now.
    #[cold]
    pub(in crate::nand) fn serve_before_resuming(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        let resumes = self.budget().expect("a die is held by a budget").waits_to_resume(d as u32);
        if resumes && self.would_serve(now, d) {
            self.supply.budget.as_mut().expect("there is a budget").withdraw(d as u32);
            let block = self.long_block(d);
            self.dies[d].go(now, State::Suspended, Use::Suspended, block);
            self.next_on(agenda, now, d);
        }
    }

    /// Die `d` no longer needs its share of the budget.
    #[inline]
    pub(in crate::nand) fn release_power(&mut self, d: usize) {
        if self.watched
            && let Some(budget) = &mut self.supply.budget
        {
            budget.release(d as u32);
        }
    }

    // ---- bookings -----------------------------------------------------------------------------------

    /// A page has been loaded into the buffer of die `d`.
    #[inline]
    pub(in crate::nand) fn book_load(&mut self, d: usize) {
        let op = self.dies[d].long().expect("a program is being loaded");
        let spender = if op.suspends > 0 { Spender::Suspension } else { op.kind.command().spender };
        let bytes = self.page_bytes();
        self.supply.tally.book_in(spender, bytes);
    }
}
