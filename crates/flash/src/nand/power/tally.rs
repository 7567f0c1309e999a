//! Where the time of the dies went, by what current was drawn for and by whom: energy is these times and bytes with the
//! part's figures, in whole attojoules.
//!
//! A die's states are summed where they change anyway ([`crate::die::usage`]). What a state does not tell (which page
//! type is sensed, how a train divides into pulses and verifies) is booked here once per operation, so that following
//! energy costs next to nothing.

use super::super::Nand;
use super::super::txn::Kind;
use crate::die::usage::{SLOTS, Use};
use crate::die::{Die, LongKind, State, TrainTime};
use crate::parts::power::{DRAWS, Draw, PowerSpec};
use crate::suspend::MultiPlane;
use interpulse_engine::{Duration, SimTime};

/// Declares whom energy is spent on, with the name in results and one line of documentation.
macro_rules! spenders {
    ($($variant:ident = $name:literal : $doc:literal;)+) => {
        /// Whom energy is spent on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Spender { $(#[doc = $doc] $variant),+ }

        /// Number of [`Spender`] values.
        pub const SPENDERS: usize = [$($name),+].len();

        impl Spender {
            /// Every spender with its name and one line of documentation.
            pub const ALL: [(Spender, &'static str, &'static str); SPENDERS] =
                [$((Spender::$variant, $name, $doc)),+];
        }
    };
}

spenders! {
    Read = "read": "Reads for the host.";
    GcRead = "gc_read": "Reads for garbage collection.";
    Program = "program": "Programs of host data, from the first page load on; pulses done again included.";
    GcProgram = "gc_program": "Programs of moved data, likewise.";
    Erase = "erase": "Erases.";
    Suspension = "suspension": "Entering, holding and leaving suspensions, page buffers loaded again included.";
    Idle = "idle": "Dies on which nothing runs, or that wait for a share of the power budget.";
}

/// What the states of the dies do not tell.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Trains of host programs, programs of moved data, erases.
    trains: [TrainTime; 3],
    /// Sensing of each page type, for the host and for garbage collection.
    sensing: [[Duration; 4]; 2],
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
    pub(in crate::nand) fn book_run(&mut self, kind: LongKind, command: Duration, ramp: Duration) {
        let train = &mut self.trains[kind as usize];
        train.command += command;
        train.ramp += ramp;
    }

    /// A train has done these pulses, voltage resets and verifies for good or in vain.
    #[inline]
    pub(in crate::nand) fn book_phases(&mut self, kind: LongKind, phases: [Duration; 3]) {
        for (to, phase) in self.trains[kind as usize].phases.iter_mut().zip(phases) {
            *to += phase;
        }
    }

    fn book_train(&mut self, kind: LongKind, time: TrainTime) {
        self.book_run(kind, time.command, time.ramp);
        self.book_phases(kind, time.phases);
    }

    #[inline]
    pub(in crate::nand) fn book_sensing(&mut self, host: bool, page_type: u32, time: Duration) {
        self.sensing[usize::from(!host)][page_type as usize % 4] += time;
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
    pub(in crate::nand) fn book_out(&mut self, host: bool, bytes: u64) {
        self.bytes[if host { Spender::Read } else { Spender::GcRead } as usize][0] += bytes;
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
        let mut trained = [0u64; 2];
        let mut sensed = [0u64; 2];
        for (&(state, usage), &time) in SLOTS.iter().zip(&at) {
            let less = |part: Duration| {
                time.checked_sub(part.as_ns())
                    .unwrap_or_else(|| panic!("{part} of the {time} ns in {state:?}"))
            };
            let spender = spender_of(state, usage);
            match state {
                State::Idle => {
                    put(spender, Draw::Idle, tally.selected.as_ns());
                    put(spender, Draw::Standby, less(tally.selected));
                }
                State::Held | State::Command | State::OutWait | State::LoadWait => {
                    put(spender, Draw::Idle, time);
                }
                State::Out => put(spender, Draw::Out, time),
                State::Recalling => put(spender, Draw::sense(1), time),
                State::Load => put(spender, Draw::Load, time),
                State::Sensing | State::Retrying if matches!(usage, Use::SenseHost | Use::SenseGc) => {
                    sensed[usize::from(usage != Use::SenseHost)] += time;
                }
                // Data of a retry moves while the next step may be sensed: beside sensing the die draws what it does idle.
                State::Sensing | State::Retrying => put(spender, Draw::Idle, time),
                State::Pulsing | State::Stopping => {
                    trained[usize::from(matches!(usage, Use::Erase | Use::StopErase))] += time;
                }
                State::Entering => {
                    put(spender, Draw::Discharge, tally.discharge.as_ns());
                    put(spender, Draw::Entry, less(tally.discharge));
                }
                State::Suspended => put(spender, Draw::Hold, time),
                State::Resuming => {
                    put(spender, Draw::Reload, tally.reload.as_ns());
                    put(spender, Draw::Resume, less(tally.reload));
                }
            }
        }
        for ((spender, sensing), time) in
            [Spender::Read, Spender::GcRead].into_iter().zip(tally.sensing).zip(sensed)
        {
            let all: u64 = sensing.iter().map(|time| time.as_ns()).sum();
            assert!(all <= time, "{all} ns of sensing in the {time} ns of {spender:?}");
            sensing.iter().enumerate().for_each(|(k, time)| put(spender, Draw::sense(k), time.as_ns()));
            // The state begins with the command cycles.
            put(spender, Draw::Idle, time - all);
        }
        for (spender, train) in
            [Spender::Program, Spender::GcProgram, Spender::Erase].into_iter().zip(tally.trains)
        {
            let [pulse, reset, verify] = match spender {
                Spender::Erase => [Draw::ErasePulse, Draw::EraseReset, Draw::EraseVerify],
                _ => [Draw::ProgramPulse, Draw::ProgramReset, Draw::ProgramVerify],
            };
            put(spender, Draw::Idle, train.command.as_ns());
            put(spender, pulse, (train.ramp + train.phases[0]).as_ns());
            put(spender, reset, train.phases[1].as_ns());
            put(spender, verify, train.phases[2].as_ns());
        }
        let [host, gc, erase] =
            tally.trains.map(|t| (t.command + t.ramp + t.phases[0] + t.phases[1] + t.phases[2]).as_ns());
        assert_eq!(
            [host + gc, erase],
            trained,
            "pulses and verifies do not add up to the time of the trains"
        );
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
                let host = self.txns.get(self.in_hand[d].reads[0]).kind == Kind::HostRead;
                if let Some((page_type, time)) = self.sensed_type(d) {
                    let done = elapsed.saturating_sub(self.timing.command * u64::from(self.in_hand[d].count));
                    tally.sensing[usize::from(!host)][page_type] -= time.saturating_sub(done);
                }
            }
            State::Entering => {
                let ahead = self.discharge_of(die).saturating_sub(elapsed);
                tally.discharge -= ahead;
            }
            State::Resuming => tally.reload -= self.reload_of(d).saturating_sub(elapsed),
            State::Retrying => {
                if let Some((host, page_type, done)) = self.sensed_by_sequence(now, d) {
                    tally.book_sensing(host, page_type, done);
                }
            }
            _ => {}
        }
    }

    /// The discharge with which the suspension of the operation on `die` begins.
    pub(in crate::nand) fn discharge_of(&self, die: &Die) -> Duration {
        let op = die.long().expect("an operation enters a suspension");
        let policy = self.suspend_policy(op.kind);
        let times = if policy.eligible.multi_plane == MultiPlane::InTurn { op.planes.1 } else { 1 };
        die.entry().saturating_sub(policy.costs.entry * u64::from(times))
    }

    /// The page type whose sensing the reads in hand of die `d` last for, and its tR; `None` if they sense nothing.
    pub(in crate::nand) fn sensed_type(&self, d: usize) -> Option<(usize, Duration)> {
        let (hand, suspended) = (&self.in_hand[d], self.dies[d].long().is_some());
        let sensed = hand.reads[..usize::from(hand.count)].iter().filter_map(|&id| {
            let txn = self.txns.get(id);
            let buffered = suspended && self.dies[d].buffers(txn.plane.into(), txn.block, txn.page);
            let page_type = (txn.page % self.geometry.pages_per_word_line) as usize;
            (!buffered).then(|| (page_type, txn.sensing(&self.timing, page_type)))
        });
        // Of equal ones the last, as in the simulation.
        sensed.max_by_key(|&(_, time)| time)
    }
}

/// Whom a state is spent on, where it does not tell by itself ([`State::Pulsing`], [`State::Sensing`]).
fn spender_of(state: State, usage: Use) -> Spender {
    match (state, usage) {
        (State::Held, _) => Spender::Idle,
        (_, Use::SenseHost | Use::BusHost) => Spender::Read,
        (_, Use::SenseGc) => Spender::GcRead,
        (State::Command | State::OutWait | State::Out | State::Retrying, Use::BusGc) => Spender::GcRead,
        (_, Use::BusProgram | Use::PulseHost | Use::StopProgram) => Spender::Program,
        (_, Use::BusGc | Use::PulseGc) => Spender::GcProgram,
        (_, Use::Erase | Use::StopErase) => Spender::Erase,
        (_, Use::Suspended) => Spender::Suspension,
        _ => Spender::Idle,
    }
}
