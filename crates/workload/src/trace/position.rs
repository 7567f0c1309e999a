//! Position in a trace file.

use std::fmt;

/// Line of a text file, or record of a binary file, counted from 1; 0 is before the first.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Position {
    /// Whether the file consists of records.
    pub records: bool,
    /// Line or record number.
    pub number: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.records { "record" } else { "line" }, self.number)
    }
}
