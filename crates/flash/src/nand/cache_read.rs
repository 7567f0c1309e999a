//! Cache read: sensed data moves out of the cache register while the die senses for the next read.
//!
//! The register takes data only if the die continues with another read, and a read keeps its die until its data has moved;
//! so a die that does anything but read has an empty register. The move from page buffer to register is part of tR.

use super::Nand;
use super::observer::DataMove;
use crate::command::Class;
use crate::die::State;
use crate::ids::DieId;
use crate::suspend::ResumePolicy;
use interpulse_engine::{EventQueue, SimTime};

impl Nand {
    /// Die `d` has sensed: if another read comes next, the data moves to the cache register and that read begins. Returns false
    /// if the data moves out of the page buffer.
    #[cold]
    #[inline(never)]
    pub(super) fn move_to_register(&mut self, events: &mut EventQueue, now: SimTime, d: usize) -> bool {
        if self.registers[d].count > 0 {
            let (usage, block) = self.read_use(d);
            self.dies[d].go(now, State::OutWait, usage, block);
            self.contexts[d].active.blocked = true;
            return true;
        }
        if !self.registers[d].is_free() {
            return false;
        }
        let Some(class) = self.next_read(now, d) else { return false };
        let (active, register) = (&self.contexts[d].active, &mut self.registers[d]);
        (register.reads, register.count, register.moved) = (active.reads, active.count, 0);
        self.counters.cached_reads += u64::from(active.count);
        let id = self.contexts[d].queue.pop(&self.txns, class);
        self.account_wait(now, d, id);
        // Its command is what sends the data to the cache register.
        self.start(events, now, d, id);
        self.request_register_out(events, now, d);
        true
    }

    /// Class of the read that die `d` serves next, if it is one and no retry.
    pub(super) fn next_read(&self, now: SimTime, d: usize) -> Option<Class> {
        let class = match self.dies[d].long() {
            Some(op) => {
                let over = match self.suspend_policy(op).resume {
                    ResumePolicy::Timer(length) => now >= self.dies[d].entered() + length,
                    ResumePolicy::Drained | ResumePolicy::Batch => false,
                };
                if over || self.must_resume(now, d) {
                    return None;
                }
                self.served_in_suspension(d)?
            }
            None => {
                let id = self.contexts[d].queue.next(
                    &self.txns,
                    self.config.policy,
                    self.config.gc_reads,
                    false,
                )?;
                self.txns.get(id).kind.command().class
            }
        };
        let txn = self.txns.get(self.contexts[d].queue.first(class));
        (txn.kind.command().is_page_read() && !txn.is_retry()).then_some(class)
    }

    fn request_register_out(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let register = &self.registers[d];
        let units = self.txns.get(register.reads[usize::from(register.moved)]).units();
        self.request_bus_for_register(events, now, d, self.timing.transfer_units[units as usize]);
    }

    pub(super) fn register_out_begins(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        end: SimTime,
    ) {
        self.registers[d].out_active = true;
        events.arm(self.register_timer(d), end);
        if self.observed {
            let register = &self.registers[d];
            let units = self.txns.get(register.reads[usize::from(register.moved)]).units();
            let bytes = self.timing.bytes_of_units[units as usize];
            let channel = self.geometry.channel_of(DieId(d as u32));
            self.observers.notify_move(DataMove { channel, into: false, bytes, at: now, end });
        }
    }

    pub(super) fn register_out_ends(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        let register = &mut self.registers[d];
        register.out_active = false;
        let id = register.reads[usize::from(register.moved)];
        register.moved += 1;
        let more = register.moved < register.count;
        let channel = self.contexts[d].channel as usize;
        self.has_moved(events, now, d, channel, id);
        if more {
            self.request_register_out(events, now, d);
            return;
        }
        self.registers[d].count = 0;
        if std::mem::take(&mut self.contexts[d].active.blocked) && !self.move_to_register(events, now, d) {
            self.request_out(events, now, d);
        }
    }
}
