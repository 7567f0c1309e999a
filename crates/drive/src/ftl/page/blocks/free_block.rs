//! Choice of the free super block that a write stream opens: dynamic wear levelling.

use interpulse_settings::choices;

choices! {
    /// The free super block of a lane that a write stream opens.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FreeBlock, default ErasedFirst {
        /// the one that was erased longest ago
        ErasedFirst = "erased-first",
        /// the one with the fewest erases; data that static wear levelling moves goes to the one with the most
        LeastWorn = "least-worn",
    }
}
