//! Classes of commands in statistics.

use crate::command::Kind;

/// Operation of a command in statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Class {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Writes with FUA, until their data is durable.
    WriteFua,
    /// Flushes.
    Flush,
    /// Trims.
    Trim,
    /// Writes of zeros.
    WriteZeroes,
}

impl Class {
    /// Number of classes.
    pub const COUNT: usize = Class::ALL.len();
    /// All classes, in the order of their numbers.
    pub const ALL: [Class; 6] =
        [Class::Read, Class::Write, Class::WriteFua, Class::Flush, Class::Trim, Class::WriteZeroes];

    /// Class of a command.
    pub fn of(kind: Kind) -> Class {
        match kind {
            Kind::Read => Class::Read,
            Kind::Write { fua: false } => Class::Write,
            Kind::Write { fua: true } => Class::WriteFua,
            Kind::Flush => Class::Flush,
            Kind::Trim => Class::Trim,
            Kind::WriteZeroes { .. } => Class::WriteZeroes,
        }
    }

    /// Name in reports and metrics.
    pub fn name(self) -> &'static str {
        ["read", "write", "write_fua", "flush", "trim", "write_zeroes"][self as usize]
    }
}
