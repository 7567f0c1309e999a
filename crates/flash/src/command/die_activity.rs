//! Activity of a die, and the waiting cause of the transactions queued behind it.

/// Causes of a transaction's wait for its die, and of its time on it: the flash part of a request's account, in ns.
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

/// Declares the activities with the waiting cause of each.
macro_rules! uses {
    ($($variant:ident => $wait:ident : $doc:literal;)+) => {
        /// Activity of a die. The times of all activities, over all dies, add up to the simulated time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum DieActivity { $(#[doc = $doc] $variant),+ }

        /// Number of [`DieActivity`] values.
        pub const DIE_ACTIVITIES: usize = [$(DieActivity::$variant),+].len();

        impl DieActivity {
            /// Waiting cause of a transaction queued behind this activity.
            pub(crate) const fn cause(self) -> Wait {
                [$(Wait::$wait),+][self as usize]
            }
        }
    };
}

uses! {
    // A die that is idle while a transaction waits is about to be granted the bus.
    Idle => Bus: "Nothing to do.";
    SenseHost => HostReads: "Sensing for the host.";
    SenseGc => Gc: "Sensing for garbage collection.";
    BusHost => HostReads: "Waiting for the bus or moving data out for a host read.";
    BusGc => Gc: "Waiting for the bus or moving data for garbage collection.";
    BusProgram => Programs: "Waiting for the bus or loading the page buffer for a host program.";
    PulseHost => Programs: "Program pulses and verifies with host data.";
    PulseGc => Gc: "Program pulses and verifies with moved data.";
    Erase => Erases: "Erase pulses and verifies.";
    StopProgram => Stop: "Running on to a legal stop after a stop was asked for: a program.";
    StopErase => Stop: "Running on to a legal stop after a stop was asked for: an erase.";
    Suspended => Suspend: "Entering or leaving a suspension, or holding a suspended operation with nothing to read.";
}
