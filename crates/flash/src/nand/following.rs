//! Telling what the dies do ([`super::observe`]): what has changed, and what a die does from then on.

use super::Nand;
use super::course::Course;
use super::observe::{DataMove, DieChange, FlashObserver, OnDie, QueueChange};
use super::power::PowerConfig;
use super::watch::Event;
use crate::command::Kind;
use crate::die::{Die, State, What};
use crate::numbers::DieId;
use crate::parts::power::Draw;
use crate::suspend::{MultiPlane, Reload, SuspendScheme};
use interpulse_engine::{Duration, SimTime};

impl Nand {
    /// From now on keeps what happens for [`Nand::tell`].
    pub fn follow(&mut self) {
        self.watched = true;
        self.watch.kept.get_or_insert_default();
        let written = self.dies.iter().map(|die| die.history().written());
        self.watch.told = written.collect();
        self.watch.waiting = self.bays.iter().map(|bay| bay.queue.waiting()).collect();
    }

    /// Keeps nothing any more; what has not been told is forgotten.
    pub fn unfollow(&mut self) {
        self.watched = self.config.power != PowerConfig::default();
        self.watch.kept = None;
    }

    /// What a die is in the middle of, as the change with which that began.
    pub fn standing(&self, of: DieId) -> DieChange {
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
            course: Some(self.course(d)),
            reads_for: self.reads_for(d),
        }
    }

    /// Tells an observer what has happened since the last time; see [`Nand::follow`].
    pub fn tell(&mut self, observer: &mut impl FlashObserver) {
        for event in self.watch.kept.iter_mut().flat_map(|kept| kept.drain(..)) {
            event.to(observer);
        }
    }

    /// Tells on what die `d` has done in the event at `now`.
    pub(super) fn look_at(&mut self, now: SimTime, d: usize) {
        let (written, told) = (self.dies[d].history().written(), self.watch.told[d]);
        let unheard = self.watch.meter.is_none() && self.watch.kept.is_none();
        if self.watch.kept.is_some() {
            self.look_at_queue(now, d);
        }
        if unheard || told == written {
            return;
        }
        self.watch.told[d] = written;
        let course = self.course(d);
        let die = &self.dies[d];
        let (operation, reads_for) = (on_die(die), self.reads_for(d));
        let mut before = die.history().before(told);
        for (change, number) in die.history().since(told).zip(told + 1..) {
            let state = change.state();
            self.watch.tell(Event::Change(DieChange {
                die: DieId(d as u32),
                at: change.at,
                before,
                state,
                usage: change.usage(),
                block: change.block,
                operation,
                course: (number == written).then_some(course),
                reads_for,
            }));
            before = state;
        }
        let (into, bytes) = match before {
            State::Out => {
                let hand = &self.bays[d].hand;
                let units = self.txns.get(hand.reads[usize::from(hand.moved)]).units();
                (false, self.timing.bytes_of_units[units as usize])
            }
            State::Load if !self.bays[d].hand.told => (true, self.page_bytes()),
            _ => return,
        };
        let channel = self.geometry.channel_of(DieId(d as u32));
        let end = self.channels[channel as usize].free_at();
        self.watch.tell_move(DataMove { channel, into, bytes, at: now, end });
    }

    /// Tells on the line of die `d`, if its length has changed.
    fn look_at_queue(&mut self, now: SimTime, d: usize) {
        let waiting = self.bays[d].queue.waiting();
        if self.watch.waiting[d] != waiting {
            self.watch.waiting[d] = waiting;
            self.watch.tell(Event::Queue(QueueChange { die: DieId(d as u32), at: now, waiting }));
        }
    }

    /// The owner of the read of the host that die `d` is busy with.
    fn reads_for(&self, d: usize) -> Option<u32> {
        let hand = &self.bays[d].hand;
        let id = match self.dies[d].state() {
            State::Command | State::Sensing if hand.count > 0 => hand.reads[0],
            State::OutWait | State::Out => hand.reads[usize::from(hand.moved)],
            State::Retrying => self.sequence_id(d)?,
            _ => return None,
        };
        let txn = self.txns.get(id);
        (txn.kind == Kind::HostRead).then_some(txn.owner)
    }

    /// What die `d` does from the last change of its state on.
    pub(super) fn course(&self, d: usize) -> Course {
        let die = &self.dies[d];
        let since = die.since();
        let ([what, mut then], [draw, mut steady]) = (die.state().whats(), die.history().last().draws());
        let length = match die.state() {
            State::Pulsing | State::Stopping => return Course::Train(die.pulses()),
            State::Idle => self.config.power.standby_after,
            State::Entering => self.discharge_of(die),
            State::Resuming => self.reload_of(d),
            State::Load => {
                if die.long().is_some_and(|op| op.suspends > 0) {
                    then = What::Reload;
                }
                Duration::ZERO
            }
            State::Sensing => {
                // A page that is in the page buffer takes no sensing, so that its type does not matter.
                let (page_type, _) = self.sensed_type(d).unwrap_or_default();
                steady = Draw::sense(page_type);
                self.timing.command * u64::from(self.bays[d].hand.count)
            }
            State::Busy => {
                if steady == Draw::Reload {
                    then = What::Load;
                }
                Duration::ZERO
            }
            State::Retrying => match self.sequence_senses(d) {
                Some((page_type, from)) => {
                    steady = Draw::sense(page_type as usize);
                    from.since(since)
                }
                None => {
                    then = What::Bus;
                    Duration::ZERO
                }
            },
            _ => Duration::ZERO,
        };
        Course::Plain { whats: [what, then], draws: [draw, steady], until: since + length }
    }

    /// The discharge with which the suspension of the operation on `die` begins.
    pub(super) fn discharge_of(&self, die: &Die) -> Duration {
        let op = die.long().expect("an operation enters a suspension");
        let policy = self.suspend_policy(op);
        let times = if policy.eligible.multi_plane == MultiPlane::InTurn { op.planes.count } else { 1 };
        die.entry().saturating_sub(policy.costs.entry * u64::from(times))
    }

    /// The loading of a page buffer from its shadow buffer with which the end of a suspension begins.
    pub(super) fn reload_of(&self, d: usize) -> Duration {
        let op = self.dies[d].long().expect("an operation resumes");
        let free = self.suspend_policy(op).scheme.resumes_free();
        match self.config.program_suspend.reload {
            Reload::ShadowBuffer(time) if !op.erases() && !free && self.bays[d].hand.buffer_used => time,
            _ => Duration::ZERO,
        }
    }

    /// The page type whose sensing the reads in hand of die `d` last for, and its tR; `None` if they sense nothing.
    pub(super) fn sensed_type(&self, d: usize) -> Option<(usize, Duration)> {
        let (hand, suspended) = (&self.bays[d].hand, self.dies[d].long().is_some());
        let sensed = hand.reads[..usize::from(hand.count)].iter().filter_map(|&id| {
            let txn = self.txns.get(id);
            let buffered = suspended && self.dies[d].buffers(txn.plane.into(), txn.block, txn.page);
            let page_type = (txn.page % self.geometry.pages_per_word_line) as usize;
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
