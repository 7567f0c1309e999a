//! Notifications of state changes and transfers to observers ([`super::observer`]).

use super::Nand;
use super::observer::{DataMove, DieChange, FlashObserver, OnDie, QueueChange};
use super::observers::Event;
use super::phase_schedule::PhaseSchedule;
use super::power::PowerConfig;
use crate::command::Kind;
use crate::die::{Die, DiePhase, State};
use crate::ids::DieId;
use crate::parts::power::Draw;
use crate::suspend::{MultiPlane, Reload, SuspendScheme};
use interpulse_engine::{Duration, SimTime};

impl Nand {
    /// Starts recording events for [`Nand::notify`].
    pub fn start_observing(&mut self) {
        self.observed = true;
        self.observers.kept.get_or_insert_default();
        let written = self.dies.iter().map(|die| die.history().written());
        self.observers.reported = written.collect();
        self.observers.waiting = self.contexts.iter().map(|context| context.queue.waiting()).collect();
    }

    /// Stops recording; unreported events are dropped.
    pub fn stop_observing(&mut self) {
        self.observed = self.config.power != PowerConfig::default() || self.held_back.is_some();
        self.observers.kept = None;
    }

    /// Current activity of a die, as the change that began it.
    pub fn current_activity(&self, of: DieId) -> DieChange {
        let (d, die) = (of.index(), &self.dies[of.index()]);
        let last = die.history().last();
        DieChange {
            die: of,
            at: die.since(),
            before: die.history().before(die.history().written().saturating_sub(1)),
            state: die.state(),
            usage: last.usage(),
            block: last.block,
            operation: on_die(die),
            schedule: Some(self.schedule(d)),
            reads_for: self.reads_for(d),
        }
    }

    /// Reports the events since the last call to an observer; see [`Nand::start_observing`].
    pub fn notify(&mut self, observer: &mut impl FlashObserver) {
        for event in self.observers.kept.iter_mut().flat_map(|kept| kept.drain(..)) {
            event.to(observer);
        }
    }

    /// Reports the changes of die `d` in the event at `now`.
    pub(super) fn report_changes(&mut self, now: SimTime, d: usize) {
        let (written, reported) = (self.dies[d].history().written(), self.observers.reported[d]);
        let no_observer = self.observers.meter.is_none() && self.observers.kept.is_none();
        if self.observers.kept.is_some() {
            self.report_queue(now, d);
        }
        if no_observer || reported == written {
            return;
        }
        self.observers.reported[d] = written;
        let schedule = self.schedule(d);
        let die = &self.dies[d];
        let (operation, reads_for) = (on_die(die), self.reads_for(d));
        let mut before = die.history().before(reported);
        for (change, number) in die.history().since(reported).zip(reported + 1..) {
            let state = change.state();
            self.observers.publish(Event::Change(DieChange {
                die: DieId(d as u32),
                at: change.at,
                before,
                state,
                usage: change.usage(),
                block: change.block,
                operation,
                schedule: (number == written).then_some(schedule),
                reads_for,
            }));
            before = state;
        }
        let (into, bytes) = match before {
            State::Out => {
                let active = &self.contexts[d].active;
                let units = self.txns.get(active.reads[usize::from(active.moved)]).units();
                (false, self.timing.bytes_of_units[units as usize])
            }
            State::Load if !self.contexts[d].active.reported => (true, self.page_bytes()),
            _ => return,
        };
        let channel = self.geometry.channel_of(DieId(d as u32));
        let end = self.channels[channel as usize].free_at();
        self.observers.notify_move(DataMove { channel, into, bytes, at: now, end });
    }

    /// Reports the queue of die `d` if its length has changed.
    fn report_queue(&mut self, now: SimTime, d: usize) {
        let waiting = self.contexts[d].queue.waiting();
        if self.observers.waiting[d] != waiting {
            self.observers.waiting[d] = waiting;
            self.observers.publish(Event::Queue(QueueChange { die: DieId(d as u32), at: now, waiting }));
        }
    }

    /// [`Owner::index`](super::txn::Owner) of the host read that die `d` serves.
    fn reads_for(&self, d: usize) -> Option<u32> {
        let active = &self.contexts[d].active;
        let id = match self.dies[d].state() {
            State::Command | State::Sensing | State::Predicting if active.count > 0 => active.reads[0],
            State::OutWait | State::Out => active.reads[usize::from(active.moved)],
            State::Retrying => self.sequence_id(d)?,
            State::PlaneReads => self.leading_read(d)?,
            _ => return None,
        };
        let txn = self.txns.get(id);
        (txn.kind == Kind::HostRead).then_some(txn.owner().index)
    }

    /// Phase schedule of die `d` from its last state change on.
    pub(super) fn schedule(&self, d: usize) -> PhaseSchedule {
        let die = &self.dies[d];
        let since = die.since();
        let ([what, mut then], [draw, mut steady]) = (die.state().phases(), die.history().last().draws());
        let length = match die.state() {
            State::Pulsing | State::Stopping => return PhaseSchedule::Train(die.pulses()),
            State::Idle => self.config.power.standby_after,
            State::Entering => self.discharge_of(die),
            State::Resuming => self.reload_of(d),
            State::Load => {
                if die.long().is_some_and(|op| op.suspends > 0) {
                    then = DiePhase::Reload;
                }
                Duration::ZERO
            }
            State::Sensing => {
                // A page that is in the page buffer takes no sensing, so that its type does not matter.
                let (page_type, _) = self.sensed_type(d).unwrap_or_default();
                steady = Draw::sense(page_type);
                self.command_before_sensing(d)
            }
            State::Busy => {
                if steady == Draw::Reload {
                    then = DiePhase::Load;
                }
                Duration::ZERO
            }
            State::PlaneReads => {
                let (phase, draw, from) = self.leading_phase(d);
                (then, steady) = (phase, draw);
                from.since(since)
            }
            State::Retrying => match self.sequence_senses(d) {
                Some((page_type, from)) => {
                    steady = Draw::sense(page_type as usize);
                    from.since(since)
                }
                None => {
                    then = DiePhase::Bus;
                    Duration::ZERO
                }
            },
            _ => Duration::ZERO,
        };
        PhaseSchedule::Plain { phases: [what, then], draws: [draw, steady], until: since + length }
    }

    /// The discharge with which the suspension of the operation on `die` begins.
    pub(super) fn discharge_of(&self, die: &Die) -> Duration {
        let op = die.long().expect("an operation enters a suspension");
        let policy = self.suspend_policy(op);
        let times = if policy.eligible.multi_plane == MultiPlane::InTurn { op.width } else { 1 };
        die.entry().saturating_sub(policy.costs.entry * u64::from(times))
    }

    /// The loading of a page buffer from its shadow buffer with which the end of a suspension begins.
    pub(super) fn reload_of(&self, d: usize) -> Duration {
        let op = self.dies[d].long().expect("an operation resumes");
        let policy = self.suspend_policy(op);
        let free = policy.scheme.has_free_resume();
        match policy.reload {
            Reload::ShadowBuffer(time) if !op.erases() && !free && self.contexts[d].active.buffer_used => {
                time
            }
            _ => Duration::ZERO,
        }
    }

    /// Command cycles with which the sensing of die `d` begins; a repeated one has none.
    pub(super) fn command_before_sensing(&self, d: usize) -> Duration {
        if self.repeated_planes(d) > 0 {
            return Duration::ZERO;
        }
        self.timing.command * u64::from(self.contexts[d].active.count)
    }

    /// Page type with the longest sensing of the active reads of die `d`, and its time; `None` if nothing is sensed.
    pub(super) fn sensed_type(&self, d: usize) -> Option<(usize, Duration)> {
        let (active, suspended) = (&self.contexts[d].active, self.dies[d].long().is_some());
        let repeated = self.repeated_planes(d);
        let sensed = active.reads[..usize::from(active.count)].iter().filter_map(|&id| {
            let txn = self.txns.get(id);
            let buffered = suspended && self.dies[d].buffers(txn.plane.into(), txn.block, txn.page);
            let page_type = (txn.page % self.geometry.pages_per_word_line) as usize;
            if repeated > 0 {
                return (repeated & 1 << txn.plane != 0).then(|| (page_type, self.repeated_sensing(txn)));
            }
            (!buffered).then(|| (page_type, txn.sensing(&self.timing, page_type)))
        });
        // Of equal ones the last, as in the simulation.
        sensed.max_by_key(|&(_, time)| time)
    }
}

/// The program or erase on a die.
fn on_die(die: &Die) -> Option<OnDie> {
    die.long().map(|op| OnDie { kind: op.kind, started: op.started, suspends: op.suspends })
}
