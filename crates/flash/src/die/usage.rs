//! What a die spends its time on, and what a transaction queued at it waits for.

use super::{STATES, State};
use interpulse_engine::SimTime;

/// What a die is doing. The shares of these over all dies add up to the simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Use {
    /// Nothing to do.
    Idle,
    /// Sensing for the host.
    SenseHost,
    /// Sensing for garbage collection.
    SenseGc,
    /// Waiting for the bus or moving data out for a host read.
    BusHost,
    /// Waiting for the bus or moving data for garbage collection.
    BusGc,
    /// Waiting for the bus or loading the page buffer for a host program.
    BusProgram,
    /// Program pulses and verifies with host data.
    PulseHost,
    /// Program pulses and verifies with moved data.
    PulseGc,
    /// Erase pulses and verifies.
    Erase,
    /// Running on to a legal stop after a stop was asked for: a program.
    StopProgram,
    /// Running on to a legal stop after a stop was asked for: an erase.
    StopErase,
    /// Entering or leaving a suspension, or holding a suspended operation with nothing to read.
    Suspended,
}

/// Number of [`Use`] values.
pub const USES: usize = 12;

/// Why a transaction waits for its die, and what it then spends there: the flash part of a request's
/// account. All in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Wait {
    /// Behind other host reads.
    HostReads,
    /// Behind programs of host data.
    Programs,
    /// Behind erases.
    Erases,
    /// Behind reads and programs of garbage collection.
    Gc,
    /// For a program or erase to reach a legal stop.
    Stop,
    /// For a suspension to be entered or left.
    Suspend,
    /// For the bus, and moving on it.
    Bus,
    /// Sensing.
    Sensing,
}

/// Number of [`Wait`] values.
pub const WAITS: usize = 8;

/// The waiting cause that each use of the die is to a transaction queued behind it.
const CAUSE: [Wait; USES] = [
    Wait::Bus, // a die that is idle and yet waited for is about to be granted the bus
    Wait::HostReads,
    Wait::Gc,
    Wait::HostReads,
    Wait::Gc,
    Wait::Programs,
    Wait::Programs,
    Wait::Gc,
    Wait::Erases,
    Wait::Stop,
    Wait::Stop,
    Wait::Suspend,
];

/// Every state of a die with every use it is put to. Time is booked by these pairs, so that both what it is to others
/// and what the die draws meanwhile follow from one sum.
pub const SLOTS: [(State, Use); 35] = [
    (State::Idle, Use::Idle),
    (State::Command, Use::BusHost),
    (State::Command, Use::BusGc),
    (State::Command, Use::Erase),
    (State::Sensing, Use::SenseHost),
    (State::Sensing, Use::SenseGc),
    (State::OutWait, Use::BusHost),
    (State::OutWait, Use::BusGc),
    (State::Out, Use::BusHost),
    (State::Out, Use::BusGc),
    (State::Recalling, Use::BusProgram),
    (State::Recalling, Use::BusGc),
    (State::LoadWait, Use::BusProgram),
    (State::LoadWait, Use::BusGc),
    (State::LoadWait, Use::Suspended),
    (State::Load, Use::BusProgram),
    (State::Load, Use::BusGc),
    (State::Load, Use::Suspended),
    (State::Pulsing, Use::PulseHost),
    (State::Pulsing, Use::PulseGc),
    (State::Pulsing, Use::Erase),
    (State::Stopping, Use::StopProgram),
    (State::Stopping, Use::StopErase),
    (State::Entering, Use::Suspended),
    (State::Suspended, Use::Suspended),
    (State::Resuming, Use::Suspended),
    (State::Retrying, Use::BusHost),
    (State::Retrying, Use::BusGc),
    (State::Retrying, Use::SenseHost),
    (State::Retrying, Use::SenseGc),
    (State::Held, Use::BusHost),
    (State::Held, Use::BusGc),
    (State::Held, Use::BusProgram),
    (State::Held, Use::Erase),
    (State::Held, Use::Suspended),
];

/// Room for the slots; a power of two. Time of a pair that is not among them goes to the last one, where the audits miss
/// it.
const ROOM: usize = 64;

/// The slot of each state and use.
const SLOT: [[u8; USES]; STATES] = {
    let mut table = [[ROOM as u8 - 1; USES]; STATES];
    let mut k = 0;
    while k < SLOTS.len() {
        table[SLOTS[k].0 as usize][SLOTS[k].1 as usize] = k as u8;
        k += 1;
    }
    table
};

/// The cause of waiting that each slot is to others.
const CAUSE_OF_SLOT: [Wait; ROOM] = {
    let mut table = [Wait::Bus; ROOM];
    let mut k = 0;
    while k < SLOTS.len() {
        table[k] = CAUSE[SLOTS[k].1 as usize];
        k += 1;
    }
    table
};

/// Cumulative time of one die by use and by waiting cause.
#[derive(Clone, Debug)]
pub struct Usage {
    causes: [u64; WAITS],
    times: [u64; ROOM],
    current: u8,
    since: SimTime,
}

impl Default for Usage {
    fn default() -> Self {
        Usage { causes: [0; WAITS], times: [0; ROOM], current: 0, since: SimTime::ZERO }
    }
}

impl Usage {
    /// Books the time up to `now` on the current use.
    #[inline]
    pub fn settle(&mut self, now: SimTime) {
        let spent = now.as_ns() - self.since.as_ns();
        let slot = self.current as usize % ROOM;
        self.times[slot] += spent;
        self.causes[CAUSE_OF_SLOT[slot] as usize] += spent;
        self.since = now;
    }

    /// Books the time up to `now` and changes state and use.
    #[inline]
    pub fn switch(&mut self, now: SimTime, state: State, to: Use) {
        self.settle(now);
        self.current = SLOT[state as usize][to as usize];
    }

    /// Time by waiting cause up to the last booking; differences of two such readings tell what a
    /// transaction queued between them waited for, and add up to its wait.
    #[inline]
    pub fn causes(&self) -> &[u64; WAITS] {
        &self.causes
    }

    /// Time by use up to the last booking, in ns; adds up to the time of that booking.
    pub fn uses(&self) -> [u64; USES] {
        let mut uses = [0; USES];
        for (&(_, usage), time) in SLOTS.iter().zip(&self.times) {
            uses[usage as usize] += time;
        }
        uses
    }

    /// Time by state and use, in the order of [`SLOTS`], up to the last booking, in ns; adds up to the time of that
    /// booking.
    pub fn times(&self) -> &[u64] {
        &self.times[..SLOTS.len()]
    }
}
