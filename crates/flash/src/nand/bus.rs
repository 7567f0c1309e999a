//! Who gets the bus of a channel, and its decoder, and how a die goes on once it has.

use super::Nand;
use super::channel::{Transfer, Waiter};
use crate::die::State;
use crate::numbers::DieId;
use interpulse_engine::{Agenda, Duration, ResourceId, SimTime};

impl Nand {
    pub(super) fn want_bus(
        &mut self,
        agenda: &mut Agenda,
        now: SimTime,
        d: usize,
        kind: Transfer,
        length: Duration,
    ) {
        if self.takes_bus(now, d, length) {
            self.granted(agenda, now, d, length);
        } else {
            self.wait_for_bus(agenda, d, kind, length);
        }
    }

    /// Takes the bus of die `d` for `length` if it is free; else it has to [wait](Nand::wait_for_bus).
    #[inline(always)]
    pub(super) fn takes_bus(&mut self, now: SimTime, d: usize, length: Duration) -> bool {
        let taken = self.channels[self.bays[d].channel as usize].take_if_free(now, length);
        self.counters.bus_time += if taken { length.as_ns() } else { 0 };
        taken
    }

    /// Die `d` waits for the bus, which is taken.
    #[inline(never)]
    pub(super) fn wait_for_bus(&mut self, agenda: &mut Agenda, d: usize, kind: Transfer, length: Duration) {
        let c = self.bays[d].channel as usize;
        if self.channels[c].is_unwanted() {
            agenda.arm(self.channel_timer(c), self.channels[c].free_at());
        }
        self.channels[c].wait(Waiter::die(DieId(d as u32)), kind, length);
    }

    /// Returns the die that has got the bus.
    pub(super) fn on_channel(&mut self, agenda: &mut Agenda, now: SimTime, c: usize) -> usize {
        let waiter = self.channels[c].grant(now).expect("a channel's timer is armed only while a die waits");
        let length = self.channels[c].free_at().since(now);
        if !self.channels[c].is_unwanted() {
            agenda.arm(self.channel_timer(c), self.channels[c].free_at());
        }
        self.counters.bus_time += length.as_ns();
        let d = waiter.die.index();
        if waiter.register {
            self.granted_to_register(agenda, now, d, length);
        } else {
            self.granted(agenda, now, d, length);
        }
        d
    }

    /// The bus is taken for `length` by die `d`, which goes on.
    fn granted(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, length: Duration) {
        let end = now + length;
        match self.dies[d].state() {
            State::Command if self.bays[d].hand.count > 0 => {
                let (sense, usage, block) = self.sense_time(d);
                self.dies[d].go(now, State::Sensing, usage, block);
                agenda.arm(self.timer(d), end + sense);
            }
            State::Command => self.take_step(agenda, now, d, end),
            State::OutWait => {
                let (usage, block) = self.read_use(d);
                self.dies[d].go(now, State::Out, usage, block);
                agenda.arm(self.timer(d), end);
            }
            State::LoadWait => {
                let (usage, block) = (self.load_use(d), self.long_block(d));
                self.dies[d].go(now, State::Load, usage, block);
                self.loads(agenda, d, usage, length, end);
            }
            State::Retrying => self.granted_to_sequence(agenda, now, d, end),
            other => unreachable!("die {d} was granted the bus in state {other:?}"),
        }
    }

    /// A read has been decoded.
    #[inline(never)]
    pub(super) fn on_decoder(&mut self, agenda: &mut Agenda, now: SimTime, c: usize) {
        let (id, next) = self.decoders[c].leave(now);
        if let Some(at) = next {
            agenda.arm(self.decoder_timer(c), at);
        }
        if self.reliability.is_some() {
            self.decoded(agenda, now, id);
        } else {
            self.ends(now, id);
        }
    }

    /// The die of the read that is decoded first.
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
