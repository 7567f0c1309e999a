//! Formats of a drive, to come and begun.

use crate::numbers::Lpn;
use crate::spec::FormatSpec;
use interpulse_engine::SimTime;

/// A format that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formatted {
    /// The command.
    pub of: FormatSpec,
    /// When it ended, unless it goes on.
    pub ended: Option<SimTime>,
    /// Units that were mapped.
    pub deallocated: u64,
    /// Super blocks that it erases.
    pub erased: u64,
    /// Logical units of the drive that it covers.
    pub(super) from: Lpn,
    pub(super) to: Lpn,
    /// FTLs that have blocks to erase.
    pub(super) erasing: u32,
}

/// Formats of a drive.
pub(super) struct Formats {
    /// Formats to come, the next one last.
    pub(super) coming: Vec<FormatSpec>,
    /// Formats that have begun, in order.
    pub(super) begun: Vec<Formatted>,
}

impl Formats {
    /// Formats of a drive; `None` without any.
    pub(super) fn new(of: &[FormatSpec]) -> Option<Box<Formats>> {
        let mut coming = of.to_vec();
        // Stable, so that of equals the first in the configuration comes first.
        coming.reverse();
        coming.sort_by_key(|of| std::cmp::Reverse(of.at));
        (!of.is_empty()).then(|| Box::new(Formats { coming, begun: Vec::new() }))
    }

    /// When the next format begins, or one that has nothing to erase ends.
    pub(super) fn next(&self) -> Option<SimTime> {
        let begins = self.coming.last().map(|of| SimTime::ZERO + of.at);
        let ends = self.begun.iter().filter(|of| of.ended.is_none() && of.erasing == 0).map(Formatted::least);
        begins.into_iter().chain(ends).min()
    }

    /// Whether one of the units `from..to` is being formatted.
    pub(super) fn covers(&self, from: Lpn, to: Lpn) -> bool {
        self.begun.iter().any(|of| of.ended.is_none() && of.from < to && from < of.to)
    }
}

impl Formatted {
    /// Earliest end.
    pub(super) fn least(&self) -> SimTime {
        SimTime::ZERO + self.of.at + self.of.takes
    }
}
