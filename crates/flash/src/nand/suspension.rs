//! Stopping a program or an erase for a host read, and going on with it: the scheduling side. What a stop
//! means for the train is the scheme's ([`crate::suspend`]) and the die's ([`crate::die`]).

use super::Nand;
use crate::die::usage::Use;
use crate::die::{LongKind, State};
use interpulse_engine::{Agenda, Duration, SimTime};

impl Nand {
    /// A host read waits for a die that pulses: stops the train if scheme and limits allow, once.
    pub(super) fn ask_to_stop(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        if self.in_hand[d].stop_asked {
            return;
        }
        let die = &mut self.dies[d];
        let op = *die.long().expect("only a pulsing die is asked to stop");
        let policy = match op.kind {
            LongKind::Erase => &self.config.erase_suspend,
            _ => &self.config.program_suspend,
        };
        if policy.max_suspends.is_some_and(|max| max > 0 && op.suspends >= max) {
            self.counters.stops_refused_by_limit += 1;
            self.in_hand[d].stop_asked = true;
            return;
        }
        let at = die.stands_at(now);
        match policy.stop(&op.train, at, op.suspends) {
            None => {}
            Some(stop) => {
                self.in_hand[d].stop_asked = true;
                let halt = die.accept_stop(now, stop);
                self.counters.stop_time += halt.as_ns() - now.as_ns();
                let lost = (at.elapsed + stop.after - stop.keeps).as_ns();
                match op.kind {
                    LongKind::Erase => self.counters.erase_redone_time += lost,
                    _ => self.counters.program_redone_time += lost,
                }
                if halt == now {
                    // The timer of the train's end must not outlive the train: the die may wait for the bus.
                    agenda.disarm(self.timer(d));
                    self.halted(agenda, now, d);
                } else {
                    agenda.arm(self.timer(d), halt);
                }
            }
        }
    }

    /// The train has come to its stop: the suspension is entered.
    pub(super) fn halted(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        let entry = self.dies[d].halt(now);
        match self.dies[d].long().expect("the halted operation").kind {
            LongKind::Erase => self.counters.erase_suspends += 1,
            _ => self.counters.program_suspends += 1,
        }
        if entry > Duration::ZERO {
            self.counters.entry_time += entry.as_ns();
            agenda.arm(self.timer(d), now + entry);
        } else {
            self.next_on(agenda, now, d);
        }
    }

    /// Nothing is left to read: the suspended operation goes on.
    pub(super) fn resume(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        let cost = self.dies[d].resume_cost();
        if cost > Duration::ZERO {
            self.counters.resume_time += cost.as_ns();
            let block = self.long_block(d);
            self.dies[d].go(now, State::Resuming, Use::Suspended, block);
            agenda.arm(self.timer(d), now + cost);
        } else {
            self.pulses_from(agenda, now, d, now);
        }
    }
}
