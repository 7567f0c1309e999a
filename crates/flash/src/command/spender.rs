//! Whom energy is spent on.

use interpulse_settings::choices;

choices! {
    /// Whom energy is spent on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Spender {
        /// Reads for the host.
        Read = "read",
        /// Reads for garbage collection.
        GcRead = "gc_read",
        /// Programs of host data, from the first page load on; pulses done again included.
        Program = "program",
        /// Programs of moved data, likewise.
        GcProgram = "gc_program",
        /// Erases.
        Erase = "erase",
        /// Entering, holding and leaving suspensions, page buffers loaded again included.
        Suspension = "suspension",
        /// Dies on which nothing runs, or that wait for a share of the power budget.
        Idle = "idle",
    }
}

/// Number of [`Spender`] values.
pub const SPENDERS: usize = Spender::ALL.len();
