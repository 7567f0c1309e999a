//! What a die spends its time on, and what a transaction queued at it waits for.

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

/// Cumulative time of one die by use and by waiting cause.
#[derive(Clone, Debug)]
pub struct Usage {
    causes: [u64; WAITS],
    uses: [u64; USES],
    current: Use,
    since: SimTime,
}

impl Default for Usage {
    fn default() -> Self {
        Usage { causes: [0; WAITS], uses: [0; USES], current: Use::Idle, since: SimTime::ZERO }
    }
}

impl Usage {
    /// Books the time up to `now` on the current use.
    #[inline]
    pub fn settle(&mut self, now: SimTime) {
        let spent = now.as_ns() - self.since.as_ns();
        self.uses[self.current as usize] += spent;
        self.causes[CAUSE[self.current as usize] as usize] += spent;
        self.since = now;
    }

    /// Books the time up to `now` and changes the use.
    #[inline]
    pub fn switch(&mut self, now: SimTime, to: Use) {
        self.settle(now);
        self.current = to;
    }

    /// Time by waiting cause up to the last booking; differences of two such readings tell what a
    /// transaction queued between them waited for, and add up to its wait.
    #[inline]
    pub fn causes(&self) -> &[u64; WAITS] {
        &self.causes
    }

    /// Time by use up to the last booking, in ns; adds up to the time of that booking.
    pub fn uses(&self) -> &[u64; USES] {
        &self.uses
    }
}
