//! Cache read: what has been sensed goes to the cache register and moves out from there, while the die senses for the next
//! read as if it were alone.
//!
//! The register takes data only where the die goes on with another read, and a read whose data is still to move keeps its die
//! until the register is empty; so a die that does anything but read has an empty register. From the page
//! buffer to the cache register is part of tR.

use super::Nand;
use super::observe::DataMove;
use crate::command::{Class, Effect};
use crate::die::State;
use crate::numbers::DieId;
use crate::suspend::ResumeWhen;
use interpulse_engine::{Agenda, SimTime};

impl Nand {
    /// Die `d` has sensed: if another read comes next, the data goes to the cache register, and that read begins. Returns
    /// false if the data moves out from where it is.
    #[cold]
    #[inline(never)]
    pub(super) fn give_to_register(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) -> bool {
        if self.registers[d].count > 0 {
            let (usage, block) = self.read_use(d);
            self.dies[d].go(now, State::OutWait, usage, block);
            self.bays[d].hand.blocked = true;
            return true;
        }
        if !self.registers[d].is_free() {
            return false;
        }
        let Some(class) = self.next_read(now, d) else { return false };
        let (hand, register) = (&self.bays[d].hand, &mut self.registers[d]);
        (register.reads, register.count, register.moved) = (hand.reads, hand.count, 0);
        self.counters.cached_reads += u64::from(hand.count);
        let id = self.bays[d].queue.pop(&self.txns, class);
        self.account_wait(now, d, id);
        // Its command is what sends the data to the cache register.
        self.start(agenda, now, d, id);
        self.want_to_give_out(agenda, now, d);
        true
    }

    /// The class of the read that die `d` takes next, if it is one, and no repeated one.
    fn next_read(&self, now: SimTime, d: usize) -> Option<Class> {
        let class = match self.dies[d].long() {
            Some(op) => {
                let over = match self.suspend_policy(op).resume {
                    ResumeWhen::Timer(length) => now >= self.dies[d].entered() + length,
                    ResumeWhen::Drained | ResumeWhen::Batch => false,
                };
                if over || self.must_resume(now, d) {
                    return None;
                }
                self.served_in_suspension(d)?
            }
            None => {
                let id =
                    self.bays[d].queue.next(&self.txns, self.config.policy, self.config.gc_reads, false)?;
                self.txns.get(id).kind.command().class
            }
        };
        let txn = self.txns.get(self.bays[d].queue.first(class));
        (txn.kind.command().effect == Effect::Reads && !txn.is_retry()).then_some(class)
    }

    fn want_to_give_out(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        let register = &self.registers[d];
        let units = self.txns.get(register.reads[usize::from(register.moved)]).units();
        self.want_bus_behind(agenda, now, d, self.timing.transfer_units[units as usize]);
    }

    /// The cache register of die `d` has the bus until `end` to give out data.
    pub(super) fn gives_out(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, end: SimTime) {
        self.registers[d].gives = true;
        agenda.arm(self.register_timer(d), end);
        if self.watched {
            let register = &self.registers[d];
            let units = self.txns.get(register.reads[usize::from(register.moved)]).units();
            let bytes = self.timing.bytes_of_units[units as usize];
            let channel = self.geometry.channel_of(DieId(d as u32));
            self.watch.tell_move(DataMove { channel, into: false, bytes, at: now, end });
        }
    }

    /// The data of a read has moved out of the cache register of die `d`.
    pub(super) fn gave_out(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        let register = &mut self.registers[d];
        register.gives = false;
        let id = register.reads[usize::from(register.moved)];
        register.moved += 1;
        let more = register.moved < register.count;
        let channel = self.bays[d].channel as usize;
        self.has_moved(agenda, now, d, channel, id);
        if more {
            self.want_to_give_out(agenda, now, d);
            return;
        }
        self.registers[d].count = 0;
        if std::mem::take(&mut self.bays[d].hand.blocked) && !self.give_to_register(agenda, now, d) {
            self.want_out(agenda, now, d);
        }
    }
}
