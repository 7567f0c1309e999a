//! Retry sequence of a die.

use crate::ids::TxnId;
use interpulse_engine::SimTime;

/// Retry sequence of a die.
#[derive(Clone, Copy)]
pub(super) struct Sequence {
    /// The read; [`TxnId::NONE`] while the die has none or is being reset.
    pub(super) id: TxnId,
    /// Further attempt that is sensed, or waits for the decode of the one before; 0 is none.
    pub(super) sensing: u8,
    /// Its sensing has ended.
    pub(super) sensed: bool,
    /// A decode is under way, or the data for it is on its way.
    pub(super) decoding: bool,
    /// The requested bus time is for data, not for a command.
    pub(super) moves_data: bool,
    /// When the sensing under way ends, or the reset; [`NEVER`] without one.
    pub(super) sense_ends: SimTime,
    /// End of the transfer under way.
    pub(super) out_ends: SimTime,
}

pub(super) const NEVER: SimTime = SimTime(u64::MAX);

impl Default for Sequence {
    fn default() -> Sequence {
        Sequence {
            id: TxnId::NONE,
            sensing: 0,
            sensed: false,
            decoding: false,
            moves_data: false,
            sense_ends: NEVER,
            out_ends: NEVER,
        }
    }
}
