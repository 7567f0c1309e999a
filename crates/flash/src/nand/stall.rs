//! Stalls: dies and channels that serve nothing for a time.
//!
//! A die first ends the operation that it has begun. A channel ends its transfer.

use super::Nand;
use super::stalls::{Interval, Stalls, overlap};
use super::txn::Txn;
use crate::command::DieActivity;
use crate::die::State;
use crate::ids::{BlockId, DieId};
use interpulse_engine::{Duration, EventQueue, SimTime};

impl Nand {
    /// Admits stalls; without this call [`Nand::stall_die`] and [`Nand::stall_channel`] panic.
    pub fn admit_stalls(&mut self) {
        self.stalls = Some(Box::new(Stalls::new(self.dies.len(), self.decoders.len())));
    }

    /// Die `die` begins no operation for `length` from now on, or from the end of its operation on.
    pub fn stall_die(&mut self, events: &mut EventQueue, die: DieId, length: Duration) {
        let (now, d) = (events.now(), die.index());
        let until = &mut self.stalls.as_mut().expect("stalls are admitted").until[d];
        *until = (*until).max(now + length);
        match self.dies[d].state() {
            State::Idle => self.begin_stall(events, now, d),
            State::Stalled => self.extend_stall(events, d),
            _ => self.contexts[d].queue.hold(true),
        }
    }

    /// Channel `channel` begins no transfer for `length` from now on.
    pub fn stall_channel(&mut self, events: &mut EventQueue, channel: u32, length: Duration) {
        let (now, channel) = (events.now(), channel as usize);
        let mut stalled: Option<Interval> = None;
        // The channel, and its bus for commands if it has one.
        for c in (channel..self.channels.len()).step_by(self.decoders.len()) {
            let (from, to) = self.channels[c].stall(now, now + length);
            if from < to {
                let from = stalled.map_or(from, |of| of.from.min(from));
                stalled = Some(Interval { from, to });
            }
            if !self.channels[c].has_no_waiters() {
                events.arm(self.channel_timer(c), self.channels[c].free_at());
            }
        }
        if let Some(interval) = stalled {
            self.stalls.as_mut().expect("stalls are admitted").channels[channel].push(interval);
        }
    }

    /// The idle die `d` stalls.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_stall(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        self.contexts[d].queue.hold(false);
        let stalls = self.stalls.as_mut().expect("stalls are admitted");
        let to = stalls.until[d];
        if to <= now {
            self.next_on(events, now, d);
            return;
        }
        stalls.dies[d].push(Interval { from: now, to });
        self.dies[d].go(now, State::Stalled, DieActivity::Idle, BlockId::NONE);
        events.arm(self.timer(d), to);
    }

    fn extend_stall(&mut self, events: &mut EventQueue, d: usize) {
        let stalls = self.stalls.as_mut().expect("stalls are admitted");
        let (to, last) = (stalls.until[d], stalls.dies[d].last_mut().expect("the die stalls"));
        last.to = to;
        events.arm(self.timer(d), to);
    }

    /// The stall of die `d` is over.
    pub(super) fn stall_over(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        self.dies[d].go(now, State::Idle, DieActivity::Idle, BlockId::NONE);
        self.next_on(events, now, d);
    }

    /// Time on the bus of a page read: its command and its data.
    pub fn transfer_time(&self, read: &Txn) -> Duration {
        self.timing.command + self.timing.transfer_units[read.units() as usize]
    }

    /// Time of `from..to` in which `die`, and in which its channel stalled.
    pub fn stalled(&self, die: DieId, from: SimTime, to: SimTime) -> [Duration; 2] {
        let Some(of) = &self.stalls else { return [Duration::ZERO; 2] };
        let channel = self.contexts[die.index()].channel as usize;
        [overlap(&of.dies[die.index()], from, to), overlap(&of.channels[channel], from, to)]
    }
}
