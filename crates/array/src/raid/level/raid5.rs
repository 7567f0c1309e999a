//! `raid5`: striped with one parity chunk per stripe, left-symmetric.

use super::RaidLevel;

/// Striped with one parity chunk per stripe.
pub struct Raid5;

impl RaidLevel for Raid5 {
    #[inline(always)]
    fn parities(&self) -> u32 {
        1
    }

    fn supports_power_loss(&self) -> bool {
        true
    }
}
