//! Map residency: which map entries are in controller memory when a command looks them up.

use crate::numbers::Lpn;

/// Result of a look-up of map entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// All entries are in memory.
    Hit,
    /// The translation page with this number has to be read from flash first.
    Miss(u32),
}

/// Policy that keeps map entries in memory.
#[derive(Clone, Debug, Default)]
pub enum Residency {
    /// The full table is in memory.
    #[default]
    Full,
    /// Every n-th look-up misses: exercises the waiting path in tests.
    #[cfg(feature = "scripted-misses")]
    EveryNth {
        /// Look-ups from one miss to the next; at least 2.
        n: u32,
        /// Look-ups so far.
        looked_up: u32,
    },
}

impl Residency {
    /// Looks up the entries of `units` from `lpn`.
    #[inline(always)]
    pub fn look_up(&mut self, lpn: Lpn, units: u32) -> Lookup {
        let _ = (lpn, units);
        match self {
            Residency::Full => Lookup::Hit,
            #[cfg(feature = "scripted-misses")]
            Residency::EveryNth { n, looked_up } => {
                *looked_up += 1;
                if looked_up.is_multiple_of(*n) { Lookup::Miss(lpn.0) } else { Lookup::Hit }
            }
        }
    }
}
