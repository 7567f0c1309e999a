//! `raid5`: striped with one parity chunk per stripe, left-symmetric.

use super::Joined;

/// Striped with one parity chunk per stripe.
pub struct Raid5;

impl Joined for Raid5 {
    #[inline(always)]
    fn parities(&self) -> u32 {
        1
    }

    fn outlives_outages(&self) -> bool {
        true
    }
}
