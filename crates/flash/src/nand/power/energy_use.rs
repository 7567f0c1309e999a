//! Energy use of an array: die times by state, divided by the entries of the tally.

use super::tally::{Spent, Tally};
use crate::command::{Command, EFFECTS, ENERGY_CATEGORIES, EnergyCategory, Kind};
use crate::die::State;
use crate::die::usage::SLOTS;
use crate::nand::Nand;
use crate::parts::power::{DRAWS, Draw};
use interpulse_engine::{Duration, SimTime};

impl Nand {
    /// Energy use up to `now`, operations under way included.
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
        let beside = tally.beside.map(|row| row.map(Duration::as_ns));
        let mut spent = Spent { times: [[0; DRAWS]; ENERGY_CATEGORIES], beside, bytes: tally.bytes };
        let mut put = |category: EnergyCategory, draw: Draw, time: u64| {
            spent.times[category as usize][draw as usize] += time;
        };
        let mut trained = [0u64; EFFECTS];
        let mut sensed = [0u64; ENERGY_CATEGORIES];
        for (slot, &time) in SLOTS.iter().zip(&at) {
            let [first, then] = slot.draws;
            let first_lasts = match slot.state {
                State::Pulsing | State::Stopping => {
                    trained[slot.effect.expect("a command pulses") as usize] += time;
                    continue;
                }
                // Retry data may move while the next step is sensed: without sensing the die draws its idle current.
                State::Sensing | State::Retrying | State::PlaneReads => {
                    sensed[slot.category as usize] += time;
                    continue;
                }
                State::Idle => tally.selected,
                State::Entering => tally.discharge,
                State::Resuming => tally.reload,
                _ => Duration::ZERO,
            };
            let less = time.checked_sub(first_lasts.as_ns());
            put(slot.category, first, first_lasts.as_ns());
            put(
                slot.category,
                then,
                less.unwrap_or_else(|| panic!("{first_lasts} of {time} ns in {:?}", slot.state)),
            );
        }
        for (kind, sensing) in Kind::ALL.into_iter().zip(tally.sensing) {
            let category = kind.command().category;
            let rest = &mut sensed[category as usize];
            for (k, time) in sensing.iter().enumerate() {
                put(category, Draw::sense(k), time.as_ns());
                *rest = rest
                    .checked_sub(time.as_ns())
                    .unwrap_or_else(|| panic!("too much sensing for {category:?}"));
            }
        }
        for (&(_, category, _), row) in EnergyCategory::ALL.iter().zip(tally.planes) {
            let rest = &mut sensed[category as usize];
            for ((draw, ..), time) in Draw::ALL.into_iter().zip(row) {
                put(category, draw, time.as_ns());
                *rest = rest
                    .checked_sub(time.as_ns())
                    .unwrap_or_else(|| panic!("planes read too long for {category:?}"));
            }
        }
        for (kind, train) in Kind::ALL.into_iter().zip(tally.trains) {
            let Command { category, effect, train: Some(pulses), .. } = kind.command() else { continue };
            let phases = pulses.draws.into_iter().zip(train.phases);
            let parts =
                [(Draw::Idle, train.command), (pulses.draws[0], train.ramp)].into_iter().chain(phases);
            for (draw, time) in parts {
                put(*category, draw, time.as_ns());
                let rest = &mut trained[*effect as usize];
                *rest = rest
                    .checked_sub(time.as_ns())
                    .unwrap_or_else(|| panic!("too long trains for {category:?}"));
            }
        }
        // A sensing begins with its command cycles.
        for (&(_, category, _), rest) in EnergyCategory::ALL.iter().zip(sensed) {
            put(category, Draw::Idle, rest);
        }
        assert_eq!(trained, [0; EFFECTS], "pulses and verifies do not add up to the time of the trains");
        spent
    }

    /// Books the unbooked work of the operation on die `d` up to `now`, and removes work booked in advance.
    pub(in crate::nand) fn book_open(&self, tally: &mut Tally, now: SimTime, d: usize) {
        let die = &self.dies[d];
        let elapsed = now.since(die.since());
        die.unfinished(now).for_each(|(kind, time)| tally.book_train(kind, time));
        match die.state() {
            State::Idle => tally.book_selected(elapsed.min(self.config.power.standby_after)),
            State::Sensing => {
                let kind = self.txns.get(self.contexts[d].active.reads[0]).kind;
                if let Some((page_type, time)) = self.sensed_type(d) {
                    let done = elapsed.saturating_sub(self.command_before_sensing(d));
                    tally.sensing[kind as usize][page_type] -= time.saturating_sub(done);
                }
            }
            State::Entering => {
                let ahead = self.discharge_of(die).saturating_sub(elapsed);
                tally.discharge -= ahead;
            }
            State::Resuming => tally.reload -= self.reload_of(d).saturating_sub(elapsed),
            State::PlaneReads => self.plane_spans(now, d).for_each(|span| span.book(tally)),
            State::Retrying => {
                if let Some((kind, page_type, done)) = self.sensed_by_sequence(now, d) {
                    tally.book_sensing(kind, page_type, done);
                }
            }
            _ => {}
        }
    }
}
