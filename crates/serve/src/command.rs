//! Commands of clients to the drive, and their completions.

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Number of the connection that sent it.
    pub connection: u64,
    /// Number that the client gave it; clients may use one for several commands.
    pub cookie: u64,
    /// What it does.
    pub kind: Kind,
    /// First byte.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub length: u32,
}

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads.
    Read,
    /// Writes.
    Write {
        /// Durable when it completes.
        fua: bool,
    },
    /// Makes completed writes durable.
    Flush,
    /// Deallocates.
    Trim,
    /// Writes zeroes.
    WriteZeroes {
        /// Durable when it completes.
        fua: bool,
    },
}

/// Completion of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Number of the connection that sent the command.
    pub connection: u64,
    /// Number that the client gave the command.
    pub cookie: u64,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Success,
    /// The medium or the drive failed.
    IoError,
    /// The drive cannot execute it.
    InvalidArgument,
    /// The drive is read-only.
    NotPermitted,
    /// The store of the data is full.
    NoSpace,
}
