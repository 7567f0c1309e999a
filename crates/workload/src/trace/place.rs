//! Where in a trace something is.

use std::fmt;

/// A line of a text, or a record of a binary file, counted from 1; 0 is before the first.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Place {
    /// Whether the file consists of records.
    pub records: bool,
    /// The number.
    pub number: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.records { "record" } else { "line" }, self.number)
    }
}
