//! Hold-up time: what a drive with capacitors does after a power cut to save its write cache, and the energy this takes.
//!
//! A die accepts save data when its current operation is out of the way ([`die_path::Path`]): programs and erases finish,
//! unless the suspension scheme stops the erase and the part programs inside a suspended erase. The drive then programs the
//! pages of the cache on all planes of a die together ([`save_plan`]). The worst case is a full cache with the longest path
//! on every die ([`worst_case`]). Starblaze (Flash Memory Summit) names power loss protection as a use of erase suspension.

use interpulse_settings::choices;

pub mod die_path;
pub mod save_plan;
pub mod worst_case;

/// Treatment of erases in progress at a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erases {
    /// Erases finish; a suspended erase is resumed.
    Finish,
    /// The scheme stops erases, without limits, and they stay suspended while save data is programmed.
    Stop,
}

choices! {
    /// Choice of the die for the next save program.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Placement, default FirstFree {
        /// the die that can start the next program first
        FirstFree = "first-free",
        /// round robin over all dies: the slowest die decides
        // Channel by channel.
        InTurn = "in-turn",
    }
}
