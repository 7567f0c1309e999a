//! Energy categories of the flash array.

use interpulse_settings::choices;

choices! {
    /// Operations that energy is spent on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum EnergyCategory {
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

/// Number of [`EnergyCategory`] values.
pub const ENERGY_CATEGORIES: usize = EnergyCategory::ALL.len();
