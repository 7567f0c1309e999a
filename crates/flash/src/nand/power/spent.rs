//! What the array has spent: the times of its dies by state, divided by what is booked beside them.

use super::tally::{Spent, Tally};
use crate::command::{Command, EFFECTS, Kind, SPENDERS, Spender};
use crate::die::State;
use crate::die::usage::SLOTS;
use crate::nand::Nand;
use crate::parts::power::{DRAWS, Draw};
use interpulse_engine::{Duration, SimTime};

impl Nand {
    /// What the array has spent up to `now`. Operations under way count with what they have done.
    ///
    /// Panics if the parts of a state do not add up to the time in it, which is a bug.
    pub fn spent(&mut self, now: SimTime) -> Spent {
        let mut at = [0u64; SLOTS.len()];
        let mut tally = self.supply.tally.clone();
        for d in 0..self.dies.len() {
            self.dies[d].usage.settle(now);
            for (to, time) in at.iter_mut().zip(self.dies[d].usage.times()) {
                *to += time;
            }
            self.book_open(&mut tally, now, d);
        }
        let mut spent = Spent { times: [[0; DRAWS]; SPENDERS], bytes: tally.bytes };
        let mut put = |spender: Spender, draw: Draw, time: u64| {
            spent.times[spender as usize][draw as usize] += time;
        };
        let mut trained = [0u64; EFFECTS];
        let mut sensed = [0u64; SPENDERS];
        for (slot, &time) in SLOTS.iter().zip(&at) {
            let [first, then] = slot.draws;
            let first_lasts = match slot.state {
                State::Pulsing | State::Stopping => {
                    trained[slot.effect.expect("a command pulses") as usize] += time;
                    continue;
                }
                // Data of a retry moves while the next step may be sensed: beside sensing the die draws what it does idle.
                State::Sensing | State::Retrying => {
                    sensed[slot.spender as usize] += time;
                    continue;
                }
                State::Idle => tally.selected,
                State::Entering => tally.discharge,
                State::Resuming => tally.reload,
                _ => Duration::ZERO,
            };
            let less = time.checked_sub(first_lasts.as_ns());
            put(slot.spender, first, first_lasts.as_ns());
            put(
                slot.spender,
                then,
                less.unwrap_or_else(|| panic!("{first_lasts} of {time} ns in {:?}", slot.state)),
            );
        }
        for (kind, sensing) in Kind::ALL.into_iter().zip(tally.sensing) {
            let spender = kind.command().spender;
            let rest = &mut sensed[spender as usize];
            for (k, time) in sensing.iter().enumerate() {
                put(spender, Draw::sense(k), time.as_ns());
                *rest = rest
                    .checked_sub(time.as_ns())
                    .unwrap_or_else(|| panic!("too much sensing for {spender:?}"));
            }
        }
        for (kind, train) in Kind::ALL.into_iter().zip(tally.trains) {
            let Command { spender, effect, train: Some(pulses), .. } = kind.command() else { continue };
            let phases = pulses.draws.into_iter().zip(train.phases);
            let parts =
                [(Draw::Idle, train.command), (pulses.draws[0], train.ramp)].into_iter().chain(phases);
            for (draw, time) in parts {
                put(*spender, draw, time.as_ns());
                let rest = &mut trained[*effect as usize];
                *rest = rest
                    .checked_sub(time.as_ns())
                    .unwrap_or_else(|| panic!("too long trains for {spender:?}"));
            }
        }
        // A sensing begins with its command cycles.
        for (&(_, spender, _), rest) in Spender::ALL.iter().zip(sensed) {
            put(spender, Draw::Idle, rest);
        }
        assert_eq!(trained, [0; EFFECTS], "pulses and verifies do not add up to the time of the trains");
        spent
    }

    /// Adds to `tally` what the operation on die `d` has done up to `now` and not been booked for, and takes off what has
    /// been booked for it in advance.
    pub(in crate::nand) fn book_open(&self, tally: &mut Tally, now: SimTime, d: usize) {
        let die = &self.dies[d];
        let elapsed = now.since(die.since());
        die.unfinished(now).for_each(|(kind, time)| tally.book_train(kind, time));
        match die.state() {
            State::Idle => tally.book_selected(elapsed.min(self.config.power.standby_after)),
            State::Sensing => {
                let kind = self.txns.get(self.bays[d].hand.reads[0]).kind;
                if let Some((page_type, time)) = self.sensed_type(d) {
                    let done =
                        elapsed.saturating_sub(self.timing.command * u64::from(self.bays[d].hand.count));
                    tally.sensing[kind as usize][page_type] -= time.saturating_sub(done);
                }
            }
            State::Entering => {
                let ahead = self.discharge_of(die).saturating_sub(elapsed);
                tally.discharge -= ahead;
            }
            State::Resuming => tally.reload -= self.reload_of(d).saturating_sub(elapsed),
            State::Retrying => {
                if let Some((kind, page_type, done)) = self.sensed_by_sequence(now, d) {
                    tally.book_sensing(kind, page_type, done);
                }
            }
            _ => {}
        }
    }
}
