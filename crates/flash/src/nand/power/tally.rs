//! Tally of die time by current and energy category; energy is time and bytes times the part's figures, in whole attojoules.
//!
//! Time by state is summed where the state changes ([`crate::die::usage`]). The page type of a sensing and the phases of a
//! train are booked here once per operation, which keeps the cost of energy accounting small.

use crate::command::{ENERGY_CATEGORIES, EnergyCategory, KINDS, Kind};
use crate::die::TrainTime;
use crate::parts::MAX_BITS;
use crate::parts::power::{DRAWS, Draw, PowerSpec};
use interpulse_engine::Duration;
use std::iter::Sum;
use std::ops::{AddAssign, Sub};

/// Page type booked for reads without sensing, with zero time: their data is in the page buffer.
pub(in crate::nand) const NO_SENSING: u32 = 0;

/// Time by entry, where the state alone does not determine the current.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Trains of each command.
    pub(super) trains: [TrainTime; KINDS],
    /// Sensing of each page type by each command.
    pub(super) sensing: [[Duration; MAX_BITS as usize]; KINDS],
    /// Part of the time in [`State::Entering`].
    pub(super) discharge: Duration,
    /// Part of the time in [`State::Resuming`].
    pub(super) reload: Duration,
    /// Part of the time in [`State::Idle`].
    pub(super) selected: Duration,
    /// Part of the time in [`State::PlaneReads`] that is not idle, by current.
    pub(super) planes: [[Duration; DRAWS]; ENERGY_CATEGORIES],
    /// Reads of further planes during that time.
    pub(super) beside: [[Duration; DRAWS]; ENERGY_CATEGORIES],
    /// Bytes moved for each [`EnergyCategory`], out of dies and into them.
    pub(super) bytes: [[u64; 2]; ENERGY_CATEGORIES],
}

impl Tally {
    /// The pulses that end now had a command, and a ramp without progress.
    #[inline]
    pub(in crate::nand) fn book_run(&mut self, kind: Kind, command: Duration, ramp: Duration) {
        let train = &mut self.trains[kind as usize];
        train.command += command;
        train.ramp += ramp;
    }

    /// Books pulses, voltage resets and verifies of a train, useful or discarded.
    #[inline]
    pub(in crate::nand) fn book_phases(&mut self, kind: Kind, phases: [Duration; 3]) {
        for (to, phase) in self.trains[kind as usize].phases.iter_mut().zip(phases) {
            *to += phase;
        }
    }

    pub(super) fn book_train(&mut self, kind: Kind, time: TrainTime) {
        self.book_run(kind, time.command, time.ramp);
        self.book_phases(kind, time.phases);
    }

    #[inline]
    pub(in crate::nand) fn book_sensing(&mut self, kind: Kind, page_type: u32, time: Duration) {
        self.sensing[kind as usize][page_type as usize] += time;
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

    /// A plane has read for `time`; `leads` unless that is time of another plane of the die, too.
    pub(in crate::nand) fn book_plane(
        &mut self,
        category: EnergyCategory,
        draw: Draw,
        time: Duration,
        leads: bool,
    ) {
        let of = if leads { &mut self.planes } else { &mut self.beside };
        of[category as usize][draw as usize] += time;
    }

    #[inline]
    pub(in crate::nand) fn book_out(&mut self, kind: Kind, bytes: u64) {
        self.bytes[kind.command().category as usize][0] += bytes;
    }

    #[inline]
    pub(in crate::nand) fn book_in(&mut self, category: EnergyCategory, bytes: u64) {
        self.bytes[category as usize][1] += bytes;
    }
}

/// Time of all dies, and bytes, since the start of the simulation; the difference of two readings is a window's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Die time in ns by [`EnergyCategory`] and [`Draw`].
    pub times: [[u64; DRAWS]; ENERGY_CATEGORIES],
    /// Time in ns for which further planes of a die read on their own: current, but no die time.
    pub beside: [[u64; DRAWS]; ENERGY_CATEGORIES],
    /// Bytes out of dies and into them, by [`EnergyCategory`]; a transfer counts when it ends.
    pub bytes: [[u64; 2]; ENERGY_CATEGORIES],
}

/// Energy from each supply, in aJ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rails {
    /// From VDDcore.
    pub core: u128,
    /// From VDDQ.
    pub bus: u128,
}

impl Rails {
    /// From both.
    pub fn both(self) -> u128 {
        self.core + self.bus
    }

    /// So many times as much.
    pub fn times(self, n: u64) -> Rails {
        Rails { core: self.core * u128::from(n), bus: self.bus * u128::from(n) }
    }
}

impl Sum for Rails {
    fn sum<I: Iterator<Item = Rails>>(all: I) -> Rails {
        all.fold(Rails::default(), |mut sum, each| {
            sum += each;
            sum
        })
    }
}

impl AddAssign for Rails {
    fn add_assign(&mut self, more: Rails) {
        self.core += more.core;
        self.bus += more.bus;
    }
}

impl Sub for Rails {
    type Output = Rails;

    fn sub(self, less: Rails) -> Rails {
        Rails { core: self.core - less.core, bus: self.bus - less.bus }
    }
}

/// Energies in aJ by [`EnergyCategory`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Energy {
    /// From VDDcore.
    pub core: [u128; ENERGY_CATEGORIES],
    /// From VDDQ.
    pub bus: [u128; ENERGY_CATEGORIES],
}

impl Energy {
    /// Of all spenders.
    pub fn totals(&self) -> Rails {
        Rails { core: self.core.iter().sum(), bus: self.bus.iter().sum() }
    }
}

impl Spent {
    /// Adds the use of another flash array.
    pub fn add(&mut self, other: &Spent) {
        for (row, more) in self.times.iter_mut().zip(&other.times) {
            row.iter_mut().zip(more).for_each(|(time, more)| *time += more);
        }
        for (row, more) in self.beside.iter_mut().zip(&other.beside) {
            row.iter_mut().zip(more).for_each(|(time, more)| *time += more);
        }
        for (row, more) in self.bytes.iter_mut().zip(&other.bytes) {
            row.iter_mut().zip(more).for_each(|(bytes, more)| *bytes += more);
        }
    }

    /// Difference to `earlier`.
    pub fn since(&self, earlier: &Spent) -> Spent {
        let mut since = self.clone();
        for (row, before) in since.times.iter_mut().zip(&earlier.times) {
            row.iter_mut().zip(before).for_each(|(time, before)| *time -= before);
        }
        for (row, before) in since.beside.iter_mut().zip(&earlier.beside) {
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
        for s in 0..ENERGY_CATEGORIES {
            let charges = self.times[s].iter().zip(self.beside[s]).zip(part.currents);
            let charges = charges.map(|((&t, beside), current)| current.charge(Duration(t + beside)));
            energy.core[s] = part.vcc.energy(charges.sum());
            let [out, into] = self.bytes[s].map(u128::from);
            energy.bus[s] =
                out * u128::from(part.bus_out.of_byte()) + into * u128::from(part.bus_in.of_byte());
        }
        energy
    }

    /// VDDcore energy summed by draw instead of category, in aJ.
    pub fn core_by_draw(&self, part: &PowerSpec) -> u128 {
        let of = |(draw, _, _, _): (Draw, _, _, _)| {
            let time: u64 = self.times.iter().chain(&self.beside).map(|row| row[draw as usize]).sum();
            part.vcc.energy(part.current(draw).charge(Duration(time)))
        };
        Draw::ALL.map(of).iter().sum()
    }
}
