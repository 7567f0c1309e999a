//! What can be wrong with a trace file, in words.

use super::limits::{DEVICES_MAX, LINE_MAX};
use super::packing::Packing;
use super::place::Place;
use std::io;
use std::path::PathBuf;

/// A fault of a trace file.
#[derive(Debug, thiserror::Error)]
#[error("trace {}: {}", path.display(), addressed(&problem.to_string(), *flow))]
pub struct TraceError {
    /// The file.
    pub path: PathBuf,
    /// The index of the flow that replays it, if one does.
    pub flow: Option<u64>,
    /// What is wrong with it.
    pub problem: TraceProblem,
}

/// What is wrong with a trace file. Lines are counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum TraceProblem {
    /// No such file.
    #[error("does not exist")]
    Missing,
    /// The operating system refuses to open it.
    #[error("cannot be opened: {0}")]
    Open(io::Error),
    /// A folder, a pipe or a device.
    #[error("is not a regular file; a trace is read twice, so a pipe cannot be one")]
    NotAFile,
    /// Reading failed on the way.
    #[error("cannot be read after {line}: {error}")]
    Read {
        /// The last complete line.
        line: Place,
        /// What the operating system says.
        error: io::Error,
    },
    /// A packed file ends too early.
    #[error("the {packing} data is truncated: it ends after {line} in the middle of the packed stream")]
    Truncated {
        /// How the file is packed.
        packing: Packing,
        /// The last complete line.
        line: Place,
    },
    /// A packed file cannot be unpacked.
    #[error("the {packing} data is damaged after {line}: {detail}")]
    Damaged {
        /// How the file is packed.
        packing: Packing,
        /// The last complete line.
        line: Place,
        /// What the unpacker says.
        detail: String,
    },
    /// Not one row.
    #[error("holds no rows")]
    Empty,
    /// Bad rows were to be skipped, and all were bad.
    #[error("holds no good row; {bad_rows} bad ones were skipped, the first: {first}")]
    AllBad {
        /// Bad rows skipped.
        bad_rows: u64,
        /// The first message.
        first: String,
    },
    /// The rows look like nothing known.
    #[error(
        "{line}: `{found}` looks like no known format; name its format with --set flow.N.format=NAME: {known}"
    )]
    Unknown {
        /// The first line that is not blank or a comment.
        line: Place,
        /// Its beginning.
        found: String,
        /// The formats that there are.
        known: String,
    },
    /// No row has the columns of the format that was named, but those of others.
    #[error("{line}: {fault}; its rows look like {like}, which --set flow.N.format=auto reads")]
    Unlike {
        /// The first row.
        line: Place,
        /// What is wrong with it.
        fault: RowFault,
        /// The formats that they may have.
        like: String,
    },
    /// Something else than a trace, told by how it begins.
    #[error("is {what}; {remedy}")]
    Foreign {
        /// What it is.
        what: &'static str,
        /// What can be done.
        remedy: &'static str,
    },
    /// A bad row.
    #[error("{line}: {fault}")]
    Row {
        /// The line.
        line: Place,
        /// What is wrong with it.
        fault: RowFault,
    },
    /// A request beyond the drive.
    #[error(
        "{line}: {device} reaches sector {end}, but the drive has {capacity} sectors; legal: a larger \
         drive, or fit = fold or scale"
    )]
    Beyond {
        /// The line of the device's furthest request.
        line: Place,
        /// The device, and where it is placed if there are several.
        device: String,
        /// One past the last sector asked for, on the drive.
        end: u64,
        /// The drive's sectors.
        capacity: u64,
    },
    /// A request larger than the drive, which no fit can help.
    #[error("{line}: the request has {sectors} sectors, but the whole drive has {capacity}")]
    Oversize {
        /// The line.
        line: Place,
        /// Its size in sectors.
        sectors: u32,
        /// The drive's sectors.
        capacity: u64,
    },
    /// The second pass read something else than the first.
    #[error("changed while it was replayed (noticed after {line})")]
    Changed {
        /// The last line read.
        line: Place,
    },
}

/// What is wrong with one row.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RowFault {
    /// A byte that is not text.
    #[error("byte {position} of the line (0x{byte:02x}) is not UTF-8 text")]
    NotUtf8 {
        /// Position in the line, from 1.
        position: usize,
        /// The byte.
        byte: u8,
    },
    /// A line without an end.
    #[error("is longer than {LINE_MAX} bytes; is this a text file?")]
    TooLong,
    /// The wrong number of columns.
    #[error("has {found} column{}; legal: {legal}", if *found == 1 { "" } else { "s" })]
    Columns {
        /// Columns seen.
        found: usize,
        /// The columns of the format, in words.
        legal: &'static str,
    },
    /// A value that is not legal.
    #[error("`{field}` is `{found}`, which is {why}; legal: {legal}")]
    Field {
        /// Name of the column.
        field: &'static str,
        /// The value seen, shortened.
        found: String,
        /// What it is not, or is too much.
        why: &'static str,
        /// What would be legal.
        legal: &'static str,
    },
    /// A time before that of an earlier row.
    #[error(
        "`time` goes back by {}; legal: ascending times, or --set flow.N.reorder=clamp, or closed pacing",
        interpulse_engine::Duration(*back_ns)
    )]
    Backwards {
        /// By how much, in ns.
        back_ns: u64,
    },
    /// The file ends within a record.
    #[error("has {found} bytes, then the file ends; legal: {bytes} bytes")]
    CutOff {
        /// Bytes of it that are there.
        found: usize,
        /// Bytes it should have.
        bytes: usize,
    },
    /// One more device than can be told apart.
    #[error("names one device more than {DEVICES_MAX}, the most a trace may have")]
    TooManyDevices,
}

impl RowFault {
    pub(crate) fn field(
        field: &'static str,
        found: &str,
        why: &'static str,
        legal: &'static str,
    ) -> RowFault {
        RowFault::Field { field, found: shorten(found), why, legal }
    }
}

/// `text`, in which settings are written `--set flow.N.KEY=VALUE`, for the flow of this index or, without one, for the
/// options of a command that have the names of the keys.
pub(crate) fn addressed(text: &str, flow: Option<u64>) -> String {
    const SETTING: &str = "--set flow.N.";
    if let Some(flow) = flow {
        return text.replace(SETTING, &format!("--set flow.{flow}."));
    }
    let mut parts = text.split(SETTING);
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        all += "--";
        all += &part.replacen('=', " ", 1);
    }
    all
}

/// At most 40 characters of `text`, control characters made visible.
pub(crate) fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        short.push_str("...");
    }
    short
}
