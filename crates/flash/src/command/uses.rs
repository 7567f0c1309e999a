//! What a die spends its time on, and what that is to those who wait for it.

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

/// Declares what a die is put to, with the waiting cause that it is to a transaction queued behind it.
macro_rules! uses {
    ($($variant:ident => $wait:ident : $doc:literal;)+) => {
        /// What a die is doing. The shares of these over all dies add up to the simulated time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Use { $(#[doc = $doc] $variant),+ }

        /// Number of [`Use`] values.
        pub const USES: usize = [$(Use::$variant),+].len();

        impl Use {
            /// The waiting cause that it is to a transaction queued behind it.
            pub(crate) const fn cause(self) -> Wait {
                [$(Wait::$wait),+][self as usize]
            }
        }
    };
}

uses! {
    // A die that is idle and yet waited for is about to be granted the bus.
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
