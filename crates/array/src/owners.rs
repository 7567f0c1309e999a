//! Which drive of an array a timer belongs to.

use interpulse_engine::ResourceId;

/// The drive of each resource, by a multiplication: a division would be felt in every event.
pub(crate) struct Owners {
    /// `2^48` by the resources of a drive, rounded up.
    reciprocal: u64,
    /// What is added so that no drive is found.
    beyond: u64,
}

impl Owners {
    /// Binary digits of the fraction.
    const DIGITS: u32 = 48;
    /// More than any array has drives.
    const BEYOND: u64 = 1 << 63;

    /// For drives of so many resources each, fewer than 2^20: then what rounding adds never makes a drive of a resource
    /// another one.
    pub(crate) fn new(per_drive: u32) -> Owners {
        debug_assert!(per_drive < 1 << 20);
        Owners { reciprocal: (1u64 << Self::DIGITS).div_ceil(u64::from(per_drive)), beyond: 0 }
    }

    /// The number of the drive; not that of any if `resource` is none of a drive's, or while drives are hidden.
    #[inline(always)]
    pub(crate) fn of(&self, resource: ResourceId) -> usize {
        ((u64::from(resource.0) * self.reciprocal + self.beyond) >> Self::DIGITS) as usize
    }

    /// Has no drive found from now on, or all again.
    pub(crate) fn hide(&mut self, hidden: bool) {
        self.beyond = if hidden { Self::BEYOND } else { 0 };
    }

    /// Whether no drive is found.
    #[inline]
    pub(crate) fn are_hidden(&self) -> bool {
        self.beyond > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_of_the_drive_that_a_division_finds() {
        for per_drive in [1, 2, 3, 7, 19, 80, 4_099, (1 << 20) - 1] {
            let mut owners = Owners::new(per_drive);
            for drive in 0..64 {
                let first = drive * per_drive;
                for resource in [first, first + per_drive / 2, first + per_drive - 1] {
                    assert_eq!(owners.of(ResourceId(resource)), drive as usize, "{resource} by {per_drive}");
                }
            }
            owners.hide(true);
            assert!(owners.are_hidden() && owners.of(ResourceId(0)) >= 64, "none is found");
        }
    }
}
