//! Bus and decoder grants of a channel.

use super::Nand;
use super::channel::{Port, Transfer, Waiter};
use crate::die::State;
use crate::ids::DieId;
use interpulse_engine::{Duration, EventQueue, ResourceId, SimTime};

impl Nand {
    pub(super) fn request_bus(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        kind: Transfer,
        length: Duration,
    ) {
        if self.takes_bus(now, d, kind, length) {
            self.granted(events, now, d, length);
        } else {
            self.wait_for_bus(events, d, kind, length);
        }
    }

    /// The bus of die `d` for such a transfer.
    #[inline(always)]
    pub(super) fn bus_of(&self, d: usize, kind: Transfer) -> usize {
        match kind {
            Transfer::Command => self.contexts[d].command_bus as usize,
            Transfer::Data => self.contexts[d].channel as usize,
        }
    }

    /// Takes the bus of die `d` for `length` if it is free; else the die has to [wait](Nand::wait_for_bus).
    #[inline(always)]
    pub(super) fn takes_bus(&mut self, now: SimTime, d: usize, kind: Transfer, length: Duration) -> bool {
        let bus = self.bus_of(d, kind);
        let taken = self.channels[bus].take_if_free(now, length);
        let counts = taken && (kind == Transfer::Data || !self.geometry.separate_commands);
        self.counters.bus_time += if counts { length.as_ns() } else { 0 };
        taken
    }

    #[inline(never)]
    pub(super) fn wait_for_bus(
        &mut self,
        events: &mut EventQueue,
        d: usize,
        kind: Transfer,
        length: Duration,
    ) {
        self.queue_for_bus(events, Waiter::die(DieId(d as u32)), kind, length);
    }

    /// Queues `waiter` for the bus of its die, which is taken.
    #[inline(always)]
    pub(super) fn queue_for_bus(
        &mut self,
        events: &mut EventQueue,
        waiter: Waiter,
        kind: Transfer,
        length: Duration,
    ) {
        let c = self.bus_of(waiter.die.index(), kind);
        if self.channels[c].has_no_waiters() {
            events.arm(self.channel_timer(c), self.channels[c].free_at());
        }
        self.channels[c].wait(waiter, kind, length);
    }

    pub(super) fn on_channel(&mut self, events: &mut EventQueue, now: SimTime, c: usize) -> usize {
        let waiter = self.channels[c].grant(now).expect("a channel's timer is armed only while a die waits");
        let length = self.channels[c].free_at().since(now);
        if !self.channels[c].has_no_waiters() {
            events.arm(self.channel_timer(c), self.channels[c].free_at());
        }
        self.counters.bus_time += if c < self.decoders.len() { length.as_ns() } else { 0 };
        let d = waiter.die.index();
        match waiter.port {
            Port::Die => self.granted(events, now, d, length),
            Port::Register => self.granted_to_register(events, now, d, length),
            Port::Plane(plane) => self.granted_to_plane(events, now, d, plane, length),
        }
        d
    }

    /// The bus is taken for `length` by die `d`, which continues.
    fn granted(&mut self, events: &mut EventQueue, now: SimTime, d: usize, length: Duration) {
        let end = now + length;
        match self.dies[d].state() {
            State::Command if self.contexts[d].active.count > 0 => {
                let (sense, usage, block) = self.sense_time(d);
                self.dies[d].go(now, State::Sensing, usage, block);
                events.arm(self.timer(d), end + sense);
            }
            State::Command if self.contexts[d].active.steps_read => self.next_read_step(events, now, d, end),
            State::Command => self.take_step(events, now, d, end),
            State::OutWait => {
                let (usage, block) = self.read_use(d);
                self.dies[d].go(now, State::Out, usage, block);
                events.arm(self.timer(d), end);
            }
            State::LoadWait if self.contexts[d].active.commands => events.arm(self.timer(d), end),
            State::LoadWait => {
                let (usage, block) = (self.load_use(d), self.long_block(d));
                self.dies[d].go(now, State::Load, usage, block);
                self.loads(events, d, usage, length, end);
            }
            State::Retrying => self.granted_to_sequence(events, now, d, end),
            other => unreachable!("die {d} was granted the bus in state {other:?}"),
        }
    }

    #[inline(never)]
    pub(super) fn on_decoder(&mut self, events: &mut EventQueue, now: SimTime, c: usize) {
        let (id, next) = self.decoders[c].leave(now);
        if let Some(at) = next {
            events.arm(self.decoder_timer(c), at);
        }
        if self.reliability.is_some() {
            self.decoded(events, now, id);
        } else {
            self.ends(now, id);
        }
    }

    pub(super) fn next_decoded(&self, c: usize) -> usize {
        let id = self.decoders[c].next().expect("a read is being decoded");
        self.txns.get(id).die.index()
    }

    #[inline]
    pub(super) fn channel_timer(&self, c: usize) -> ResourceId {
        ResourceId(self.first + (self.dies.len() + c) as u32)
    }

    #[inline]
    pub(super) fn decoder_timer(&self, c: usize) -> ResourceId {
        ResourceId(self.first + (self.dies.len() + self.channels.len() + c) as u32)
    }
}
