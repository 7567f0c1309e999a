//! Choices of Write Zeroes.

use interpulse_settings::choices;

choices! {
    /// What the drive does with whole units of a Write Zeroes command.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WriteZeroes {
        /// units that the command covers are deallocated, others written (NVMe: DEAC, and reads of deallocated blocks return zeros)
        Deallocate = "deallocate",
        /// zeros are written as data
        Write = "write",
    }
}
