//! `raid6`: striped with two parity chunks per stripe, left-symmetric.

use super::Joined;

/// Striped with two parity chunks per stripe.
pub struct Raid6;

impl Joined for Raid6 {
    #[inline(always)]
    fn parities(&self) -> u32 {
        2
    }
}
