//! `raid6`: striped with two parity chunks per stripe, left-symmetric.

use super::RaidLevel;

/// Striped with two parity chunks per stripe.
pub struct Raid6;

impl RaidLevel for Raid6 {
    #[inline(always)]
    fn parities(&self) -> u32 {
        2
    }
}
