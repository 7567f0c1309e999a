//! Where the time of the dies went, by what current was drawn for and by whom: energy is these times and bytes with the
//! part's figures, in whole attojoules.
//!
//! A die's states are summed where they change anyway ([`crate::die::usage`]). What a state does not tell (which page
//! type is sensed, how a train divides into pulses and verifies) is booked here once per operation, so that following
//! energy costs next to nothing.

use super::super::Nand;
use crate::command::{Command, EFFECTS, KINDS, Kind, SPENDERS, Spender};
use crate::die::usage::SLOTS;
use crate::die::{State, TrainTime};
use crate::parts::power::{DRAWS, Draw, PowerSpec};
use interpulse_engine::{Duration, SimTime};

/// What the states of the dies do not tell.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Trains of each command.
    trains: [TrainTime; KINDS],
    /// Sensing of each page type by each command.
    sensing: [[Duration; 4]; KINDS],
    /// Part of the time in [`State::Entering`].
    discharge: Duration,
    /// Part of the time in [`State::Resuming`].
    reload: Duration,
    /// Part of the time in [`State::Idle`].
    selected: Duration,
    /// Bytes moved for each [`Spender`], out of dies and into them.
    bytes: [[u64; 2]; SPENDERS],
}

impl Tally {
    /// The pulses that end now had a command, and a ramp without progress.
    #[inline]
    pub(in crate::nand) fn book_run(&mut self, kind: Kind, command: Duration, ramp: Duration) {
        let train = &mut self.trains[kind as usize];
        train.command += command;
        train.ramp += ramp;
    }

    /// A train has done these pulses, voltage resets and verifies for good or in vain.
    #[inline]
    pub(in crate::nand) fn book_phases(&mut self, kind: Kind, phases: [Duration; 3]) {
        for (to, phase) in self.trains[kind as usize].phases.iter_mut().zip(phases) {
            *to += phase;
        }
    }

    fn book_train(&mut self, kind: Kind, time: TrainTime) {
        self.book_run(kind, time.command, time.ramp);
        self.book_phases(kind, time.phases);
    }

    #[inline]
    pub(in crate::nand) fn book_sensing(&mut self, kind: Kind, page_type: u32, time: Duration) {
        self.sensing[kind as usize][page_type as usize % 4] += time;
    }

    #[inline]
    pub(in crate::nand) fn book_discharge(&mut self, time: Duration) {
        self.discharge += time;
    }

    #[inline]
    pub(in crate::nand) fn book_reload(&mut self, time: Duration) {
        self.reload += time;
    }

    #[inline]
    pub(in crate::nand) fn book_selected(&mut self, time: Duration) {
        self.selected += time;
    }

    #[inline]
    pub(in crate::nand) fn book_out(&mut self, kind: Kind, bytes: u64) {
        self.bytes[kind.command().spender as usize][0] += bytes;
    }

    #[inline]
    pub(in crate::nand) fn book_in(&mut self, spender: Spender, bytes: u64) {
        self.bytes[spender as usize][1] += bytes;
    }
}

/// Time of all dies, and bytes, since the start of the simulation; the difference of two readings is a window's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Die time in ns by [`Spender`] and [`Draw`].
    pub times: [[u64; DRAWS]; SPENDERS],
    /// Bytes out of dies and into them, by [`Spender`]; a transfer counts when it ends.
    pub bytes: [[u64; 2]; SPENDERS],
}

/// Energies in aJ by [`Spender`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Energy {
    /// From VDDcore.
    pub core: [u128; SPENDERS],
    /// From VDDQ.
    pub bus: [u128; SPENDERS],
}

impl Energy {
    /// Of all spenders, in aJ: VDDcore and VDDQ.
    pub fn totals(&self) -> (u128, u128) {
        (self.core.iter().sum(), self.bus.iter().sum())
    }
}

impl Spent {
    /// Adds what another flash array has spent.
    pub fn add(&mut self, other: &Spent) {
        for (row, more) in self.times.iter_mut().zip(&other.times) {
            row.iter_mut().zip(more).for_each(|(time, more)| *time += more);
        }
        for (row, more) in self.bytes.iter_mut().zip(&other.bytes) {
            row.iter_mut().zip(more).for_each(|(bytes, more)| *bytes += more);
        }
    }

    /// What has been spent since `earlier`.
    pub fn since(&self, earlier: &Spent) -> Spent {
        let mut since = self.clone();
        for (row, before) in since.times.iter_mut().zip(&earlier.times) {
            row.iter_mut().zip(before).for_each(|(time, before)| *time -= before);
        }
        for (row, before) in since.bytes.iter_mut().zip(&earlier.bytes) {
            row.iter_mut().zip(before).for_each(|(bytes, before)| *bytes -= before);
        }
        since
    }

    /// Die time of all spenders, in ns.
    pub fn die_time(&self) -> u64 {
        self.times.iter().flatten().sum()
    }

    /// The energies of a part with these figures.
    pub fn energy(&self, part: &PowerSpec) -> Energy {
        let mut energy = Energy::default();
        for s in 0..SPENDERS {
            let charges = self.times[s].iter().zip(part.currents);
            energy.core[s] = part.vcc.energy(charges.map(|(&t, current)| current.charge(Duration(t))).sum());
            let [out, into] = self.bytes[s].map(u128::from);
            energy.bus[s] =
                out * u128::from(part.bus_out.of_byte()) + into * u128::from(part.bus_in.of_byte());
        }
        energy
    }

    /// The same VDDcore energy another way, in aJ: what each draw lasted, whoever it was for.
    pub fn core_by_draw(&self, part: &PowerSpec) -> u128 {
        let of = |(draw, _, _, _): (Draw, _, _, _)| {
            let time: u64 = self.times.iter().map(|row| row[draw as usize]).sum();
            part.vcc.energy(part.current(draw).charge(Duration(time)))
        };
        Draw::ALL.map(of).iter().sum()
    }
}

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
            let [first, then] = slot.state.draws();
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
        for (&(spender, ..), rest) in Spender::ALL.iter().zip(sensed) {
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
                let kind = self.txns.get(self.in_hand[d].reads[0]).kind;
                if let Some((page_type, time)) = self.sensed_type(d) {
                    let done = elapsed.saturating_sub(self.timing.command * u64::from(self.in_hand[d].count));
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
