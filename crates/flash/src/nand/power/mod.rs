//! Power of the array: what the dies draw, by what for; the current through time; a budget that scheduling respects.

pub mod budget;
pub mod meter;
pub mod tally;

use super::Nand;
use super::txn::Txn;
use crate::command::{Spender, Step, Use};
use crate::die::{Die, State};
use crate::parts::power::{Draw, PowerSpec};
use crate::suspend::{Reload, SuspendScheme};
use budget::{Budget, Next};
use interpulse_engine::{Agenda, Current, Duration, SimTime};
use meter::{Course, Meter};
use tally::Tally;

/// How power is followed and limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerConfig {
    /// A die on which nothing runs is deselected after this long.
    pub standby_after: Duration,
    /// Follows the current through time, in windows of this length; `None` keeps to sums.
    pub trace: Option<Duration>,
    /// The most VDDcore current of all dies together; `None` is no limit.
    pub budget: Option<Current>,
}

/// Page type that reads in hand without sensing count as, for no time: their data is in the page buffer.
pub(super) const NO_SENSING: u32 = 0;

/// What the array keeps of its power.
#[derive(Clone)]
pub(super) struct Supply {
    pub(super) part: PowerSpec,
    pub(super) tally: Tally,
    pub(super) meter: Option<Box<Meter>>,
    pub(super) budget: Option<Box<Budget>>,
}

impl Supply {
    pub(super) fn new(
        config: &PowerConfig,
        part: &PowerSpec,
        setup: Duration,
        dies: u32,
        channels: u32,
    ) -> Supply {
        let meter = |window| Box::new(Meter::new(part, dies, channels, window, config.standby_after));
        Supply {
            part: part.clone(),
            tally: Tally::default(),
            meter: config.trace.map(meter),
            budget: Budget::new(config, part, setup, dies, channels).map(Box::new),
        }
    }
}

impl Nand {
    /// What has been drawn through time, if that is followed.
    pub fn meter(&mut self) -> Option<&mut Meter> {
        self.supply.meter.as_deref_mut()
    }

    /// Whether data moves on any channel: its bytes count only when their transfer ends.
    pub fn is_moving(&self) -> bool {
        let moves = |(d, die): (usize, &Die)| match die.state() {
            State::Out | State::Load => true,
            State::Retrying => self.sequence_moves(d),
            _ => false,
        };
        self.dies.iter().enumerate().any(moves)
    }

    /// The budget, if there is one.
    pub fn budget(&self) -> Option<&Budget> {
        self.supply.budget.as_deref()
    }

    /// Starts a new measurement of the current through time, and of the waits for the budget.
    pub fn restart_power(&mut self, now: SimTime) {
        if let Some(meter) = &mut self.supply.meter {
            meter.restart(now);
        }
        if let Some(budget) = &mut self.supply.budget {
            budget.waits = budget::Waits::default();
        }
    }

    // ---- the meter ----------------------------------------------------------------------------------

    /// As submitting, with somebody who wants to know.
    #[cold]
    #[inline(never)]
    pub(super) fn submit_watched(&mut self, agenda: &mut Agenda, txn: Txn) {
        let (now, d) = (agenda.now(), txn.die as usize);
        if self.dies[d].state() == State::Idle {
            self.book_idle(now, d);
        }
        self.take(agenda, txn);
        self.watch(agenda, now, d);
    }

    /// Die `d` is idle no longer: books for how long it was selected.
    pub(super) fn book_idle(&mut self, now: SimTime, d: usize) {
        let idle = now.since(self.dies[d].since());
        self.supply.tally.book_selected(idle.min(self.config.power.standby_after));
    }

    /// As handling a timer, with somebody who wants to know.
    #[cold]
    #[inline(never)]
    pub(super) fn on_timer_watched(&mut self, agenda: &mut Agenda, index: u32) {
        let now = agenda.now();
        let (dies, channels) = (self.dies.len() as u32, self.channels.len() as u32);
        if index < dies {
            self.on_die(agenda, now, index as usize);
            self.watch(agenda, now, index as usize);
        } else if index < dies + channels {
            let d = self.on_channel(agenda, now, (index - dies) as usize);
            self.watch(agenda, now, d);
        } else {
            let d = self.on_decoder(agenda, now, (index - dies - channels) as usize);
            self.watch(agenda, now, d);
        }
    }

    /// Something has happened to die `d`: gives on what it gave back of the budget, and shows the meter what changed.
    fn watch(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        while let Some((next_die, next, waited)) = self.supply.budget.as_mut().and_then(|b| b.next(now)) {
            self.go_on(agenda, now, next_die as usize, next, waited);
            self.look_at(now, next_die as usize);
        }
        self.look_at(now, d);
    }

    fn look_at(&mut self, now: SimTime, d: usize) {
        let changes = self.dies[d].history().written();
        if !self.supply.meter.as_mut().is_some_and(|meter| meter.has_changed(d as u32, changes)) {
            return;
        }
        let course = self.course(d);
        let c = self.geometry.channel_of(d as u32);
        let transfer = match self.dies[d].state() {
            State::Out => {
                let hand = &self.in_hand[d];
                let units = self.txns.get(hand.reads[usize::from(hand.moved)]).units;
                Some((false, self.timing.bytes_of_units[units as usize]))
            }
            State::Load => Some((true, self.page_bytes())),
            _ => None,
        };
        let end = self.channels[c as usize].free_at();
        let meter = self.supply.meter.as_mut().expect("it has been asked");
        meter.follow(now, d as u32, course);
        if let Some((into, bytes)) = transfer {
            meter.transfer(now, c, into, bytes, end);
        }
    }

    /// What die `d` draws from now on if nothing happens to it.
    fn course(&self, d: usize) -> Course {
        let die = &self.dies[d];
        let since = die.since();
        let [first, mut then] = die.state().draws();
        let length = match die.state() {
            State::Pulsing | State::Stopping => {
                let (kind, train, from, ramped, progress) = die.course();
                return Course::Train { kind, train, from, ramped, progress };
            }
            State::Idle => self.config.power.standby_after,
            State::Entering => self.discharge_of(die),
            State::Resuming => self.reload_of(d),
            State::Sensing => {
                // A page that is in the page buffer takes no sensing, so that its type does not matter.
                let (page_type, _) = self.sensed_type(d).unwrap_or_default();
                then = Draw::sense(page_type);
                self.timing.command * u64::from(self.in_hand[d].count)
            }
            State::Retrying => match self.sequence_senses(d) {
                Some((page_type, from)) => {
                    then = Draw::sense(page_type as usize);
                    from.since(since)
                }
                None => Duration::ZERO,
            },
            _ => Duration::ZERO,
        };
        if length > Duration::ZERO { Course::Then(first, since + length, then) } else { Course::Steady(then) }
    }

    /// The loading of a page buffer from its shadow buffer with which the end of a suspension begins.
    pub(super) fn reload_of(&self, d: usize) -> Duration {
        let op = self.dies[d].long().expect("an operation resumes");
        let free = self.suspend_policy(op.kind).scheme.resumes_free();
        match self.config.program_suspend.reload {
            Reload::ShadowBuffer(time) if !op.erases() && !free && self.in_hand[d].buffer_used => time,
            _ => Duration::ZERO,
        }
    }

    /// Bytes of a page with its parity.
    pub(super) fn page_bytes(&self) -> u64 {
        *self.timing.bytes_of_units.last().expect("a page has a unit")
    }

    // ---- the budget ---------------------------------------------------------------------------------

    /// Whether die `d` may do what comes next; if the budget does not allow it now, the die is held until it does.
    #[inline]
    pub(super) fn may_draw(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, next: Next) -> bool {
        !self.watched || self.supply.budget.is_none() || self.ask_for_power(agenda, now, d, next)
    }

    #[cold]
    #[inline(never)]
    fn ask_for_power(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, next: Next) -> bool {
        let amount = match next {
            Next::Read => {
                let hand = &self.in_hand[d];
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
                let sensing = budget.sensing(self.supply.part.current(Draw::sense(1)));
                let recalls = self.in_hand[d].steps.contains(&Step::Recall);
                budget.train(op.kind).max(if recalls { sensing } else { 0 })
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
                for k in 0..usize::from(self.in_hand[d].count) {
                    let txn = self.txns.get_mut(self.in_hand[d].reads[k]);
                    txn.held = waited.as_ns();
                    txn.mark = txn.mark + waited;
                }
                let txn = *self.txns.get(self.in_hand[d].reads[0]);
                self.command_reads(agenda, now, d, &txn);
            }
            Next::Retry => self.begin_sequence(agenda, now, d),
            Next::Step => self.take_step(agenda, now, d, now),
            Next::Resume(reload) => self.leave_now(agenda, now, d, reload),
        }
    }

    /// Something has arrived at die `d`, which is held: if it waits to resume, and the suspension would have served what has
    /// arrived, it is served now.
    #[cold]
    pub(super) fn serve_before_resuming(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
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
    pub(super) fn release_power(&mut self, d: usize) {
        if self.watched
            && let Some(budget) = &mut self.supply.budget
        {
            budget.release(d as u32);
        }
    }

    // ---- bookings -----------------------------------------------------------------------------------

    /// A page has been loaded into the buffer of die `d`.
    #[inline]
    pub(super) fn book_load(&mut self, d: usize) {
        let op = self.dies[d].long().expect("a program is being loaded");
        let spender = if op.suspends > 0 { Spender::Suspension } else { op.kind.command().spender };
        let bytes = self.page_bytes();
        self.supply.tally.book_in(spender, bytes);
    }
}
