//! Capacitors that keep a write cache: what a drive has to do on their energy after a cut, and how much that is.
//!
//! A die takes save data when what was on it is out of the way ([`path::Path`]): a program runs to its end, and so does an
//! erase, unless it is stopped by its suspension scheme and the part programs inside a suspended erase. Then the pages of the
//! cache are programmed, all planes of a die together ([`plan`]). The largest need of a drive is that of a full cache with the
//! longest path on every die ([`worst`]).
//!
//! Starblaze (Flash Memory Summit) names power loss protection as a use of erase suspension, without figures.

use interpulse_settings::choices;

pub mod path;
pub mod plan;
pub mod worst;

/// What becomes of the erases that a cut finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erases {
    /// They run to their end; a suspended one is resumed for it.
    Finish,
    /// They are stopped by their scheme, whatever its limits, and stay so. Save data are programmed beside them.
    Stop,
}

choices! {
    /// On which dies the pages of the cache are saved.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Placement, default FirstFree {
        /// the die that can take the next program first
        FirstFree = "first-free",
        /// all dies in turn: the slowest one decides
        // Channel after channel.
        InTurn = "in-turn",
    }
}
