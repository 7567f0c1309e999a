//! Map from resources (timers) to the drives of an array.

use interpulse_engine::ResourceId;

/// Drive of each resource by a multiplication: a division per event would be too slow.
pub(crate) struct ResourceToDrive {
    /// `2^48 / resources per drive`, rounded up.
    reciprocal: u64,
    /// Offset beyond all drives while they are hidden.
    beyond: u64,
}

impl ResourceToDrive {
    const DIGITS: u32 = 48;
    /// More than the maximum number of drives.
    const BEYOND: u64 = 1 << 63;

    /// Requires fewer than 2^20 resources per drive: then rounding never changes the result.
    pub(crate) fn new(resources_per_drive: u32) -> ResourceToDrive {
        debug_assert!(resources_per_drive < 1 << 20);
        ResourceToDrive {
            reciprocal: (1u64 << Self::DIGITS).div_ceil(u64::from(resources_per_drive)),
            beyond: 0,
        }
    }

    /// Drive of `resource`; beyond all drives for other resources, or while drives are hidden.
    #[inline(always)]
    pub(crate) fn drive(&self, resource: ResourceId) -> usize {
        ((u64::from(resource.0) * self.reciprocal + self.beyond) >> Self::DIGITS) as usize
    }

    pub(crate) fn hide(&mut self, hidden: bool) {
        self.beyond = if hidden { Self::BEYOND } else { 0 };
    }

    #[inline]
    pub(crate) fn is_hidden(&self) -> bool {
        self.beyond > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_map_to_the_drive_that_a_division_gives() {
        for resources_per_drive in [1, 2, 3, 7, 19, 80, 4_099, (1 << 20) - 1] {
            let mut resource_map = ResourceToDrive::new(resources_per_drive);
            for drive in 0..64 {
                let first = drive * resources_per_drive;
                for resource in [first, first + resources_per_drive / 2, first + resources_per_drive - 1] {
                    assert_eq!(
                        resource_map.drive(ResourceId(resource)),
                        drive as usize,
                        "{resource} by {resources_per_drive}"
                    );
                }
            }
            resource_map.hide(true);
            assert!(resource_map.is_hidden() && resource_map.drive(ResourceId(0)) >= 64, "none is found");
        }
    }
}
