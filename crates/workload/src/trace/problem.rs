//! Error messages of trace files.

use super::limits::{DEVICES_MAX, LINE_MAX};
use super::packing::Packing;
use super::position::Position;
use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

/// Fault of a trace file.
#[derive(Debug, thiserror::Error)]
#[error("trace {}: {}", path.display(), addressed(&problem.to_string(), *flow))]
pub struct TraceError {
    /// The file.
    pub path: PathBuf,
    /// Index of the flow that replays it, if any.
    pub flow: Option<u64>,
    /// Kind of fault.
    pub problem: TraceProblem,
}

/// Kind of fault of a trace file. Lines are counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum TraceProblem {
    /// Missing file.
    #[error("does not exist")]
    Missing,
    /// File that the operating system refuses to open.
    #[error("cannot be opened: {0}")]
    Open(io::Error),
    /// Directory, pipe or device.
    #[error("is not a regular file; a trace is read twice, so a pipe cannot be one")]
    NotAFile,
    /// Read error.
    #[error("cannot be read after {line}: {error}")]
    Read {
        /// Last complete line.
        line: Position,
        /// Error of the operating system.
        error: io::Error,
    },
    /// Truncated compressed file.
    #[error("the {packing} data is truncated: it ends after {line} in the middle of the packed stream")]
    Truncated {
        /// Compression.
        packing: Packing,
        /// Last complete line.
        line: Position,
    },
    /// Damaged compressed file.
    #[error("the {packing} data is damaged after {line}: {detail}")]
    Damaged {
        /// Compression.
        packing: Packing,
        /// Last complete line.
        line: Position,
        /// Error of the decompressor.
        detail: String,
    },
    /// File without rows.
    #[error("holds no rows")]
    Empty,
    /// Trace without a request of the selected device.
    #[error("has no request of the device that --set flow.N.device selects; legal: {known}")]
    NoSuchDevice {
        /// Devices of the trace.
        known: String,
    },
    /// Trace that holds nothing else than what is left out.
    #[error(
        "holds only {discards} discard(s) and {flushes} flush(es), which are left out; legal: discards and flushes = replay"
    )]
    AllSkipped {
        /// Discards left out.
        discards: u64,
        /// Flushes left out.
        flushes: u64,
    },
    /// Recorded pacing of a trace without times.
    #[error(
        "the format {format} has no times, so there is no recorded pacing; legal: closed loop, --set \
         flow.N.pacing=closed --set flow.N.depth=32"
    )]
    Untimed {
        /// Format of the trace.
        format: &'static str,
    },
    /// Time unit of a trace without times.
    #[error("the format {format} has no times; legal: leave out --set flow.N.time-unit")]
    NoTimeUnit {
        /// Format of the trace.
        format: &'static str,
    },
    /// Times that are implausible in the unit of the format.
    #[error(
        "its times are implausible in {unit}: {why}; legal: --set flow.N.time-unit=ns if they are in ns, or us if they are not"
    )]
    ImplausibleTimes {
        /// Unit of the format.
        unit: &'static str,
        /// Reason.
        why: String,
    },
    /// Repetition that lasts too long.
    #[error(
        "{passes} passes over {span} last longer than 208 days at replay speed; legal: a smaller repeat or a larger speed"
    )]
    TooLong {
        /// Passes over the trace.
        passes: u32,
        /// Time of one pass, as recorded.
        span: String,
    },
    /// Shifted passes beyond the drive.
    #[error(
        "{passes} passes, each shifted by {stride} sectors, reach sector {end}, but the drive has {capacity} sectors; \
         legal: a larger drive, fit = fold or scale, or repeat-addresses = same"
    )]
    ShiftedBeyond {
        /// Passes over the trace.
        passes: u32,
        /// Sectors between two passes.
        stride: u64,
        /// One past the last sector requested.
        end: u64,
        /// Capacity of the drive in sectors.
        capacity: u64,
    },
    /// File of which all rows were skipped as bad.
    #[error("holds no good row; {bad_rows} bad ones were skipped, the first: {first}")]
    AllBad {
        /// Bad rows skipped.
        bad_rows: u64,
        /// First message.
        first: String,
    },
    /// Rows of an unknown format.
    #[error(
        "{line}: `{found}` matches no known format{remedy}; specify its format with --set flow.N.format=NAME: {known}"
    )]
    Unknown {
        /// First line that is neither blank nor a comment.
        line: Position,
        /// Beginning of the line.
        found: String,
        /// Settings that may read the rows as columns; empty if there are none.
        remedy: String,
        /// Known formats.
        known: String,
    },
    /// Rows with the columns of another format than the specified one.
    #[error("{line}: {fault}; its rows look like {like}, which --set flow.N.format=auto reads")]
    Unlike {
        /// First row.
        line: Position,
        /// Fault of the row.
        fault: RowFault,
        /// Formats with these columns.
        like: String,
    },
    /// Layout of the format `columns` that neither settings nor heading complete.
    #[error("{line}: {why}; {remedy}")]
    Layout {
        /// First row.
        line: Position,
        /// What is unknown.
        why: String,
        /// Settings to try.
        remedy: String,
    },
    /// Unit of addresses that have several columns.
    #[error(
        "the format {format} has addresses of several columns; legal: leave out --set flow.N.address-unit"
    )]
    NoAddressUnit {
        /// Format of the trace.
        format: &'static str,
    },
    /// File whose name says a format that needs settings.
    #[error(
        "is by its name a file of the format {format}, whose records have no operations and no addresses; give them: \
         --set flow.N.format={format} --set flow.N.operation=read (or write) --set flow.N.address-unit=4KiB (bytes from \
         one object to the next)"
    )]
    Incomplete {
        /// Format that the file name says.
        format: &'static str,
    },
    /// Heading that contradicts the format of the rows.
    #[error("{line}: the rows look like {like}, but by the heading {why}; {remedy}")]
    Contradicted {
        /// The heading.
        line: Position,
        /// Format of the rows.
        like: &'static str,
        /// Column of the heading that differs.
        why: String,
        /// Settings to try.
        remedy: String,
    },
    /// Another kind of file, identified by its signature.
    #[error("is {what}; {remedy}")]
    Foreign {
        /// Kind of file.
        what: &'static str,
        /// Remedy.
        remedy: &'static str,
    },
    /// Bad row.
    #[error("{line}: {fault}")]
    Row {
        /// Line of the row.
        line: Position,
        /// Fault of the row.
        fault: RowFault,
    },
    /// Request beyond the drive.
    #[error(
        "{line}: {device} reaches sector {end}, but the drive has {capacity} sectors; legal: a larger \
         drive, or fit = fold or scale"
    )]
    Beyond {
        /// Line of the request of the device that ends at the highest sector.
        line: Position,
        /// Device, with its placement if there are several.
        device: String,
        /// One past the last sector requested, on the drive.
        end: u64,
        /// Capacity of the drive in sectors.
        capacity: u64,
    },
    /// Request larger than the drive, which no `fit` resolves.
    #[error("{line}: the request has {sectors} sectors, but the whole drive has {capacity}")]
    Oversize {
        /// Line of the request.
        line: Position,
        /// Size in sectors.
        sectors: u32,
        /// Capacity of the drive in sectors.
        capacity: u64,
    },
    /// File changed between the passes.
    #[error("changed while it was replayed (detected after {line})")]
    Changed {
        /// Last line read.
        line: Position,
    },
}

/// Fault of one row.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RowFault {
    /// Byte that is not UTF-8 text.
    #[error("byte {position} of the line (0x{byte:02x}) is not UTF-8 text")]
    NotUtf8 {
        /// Position in the line, from 1.
        position: usize,
        /// Value of the byte.
        byte: u8,
    },
    /// Line longer than the limit.
    #[error("is longer than {LINE_MAX} bytes; is this a text file?")]
    TooLong,
    /// Wrong number of columns.
    #[error("has {found} column{}; legal: {legal}", if *found == 1 { "" } else { "s" })]
    Columns {
        /// Columns found.
        found: usize,
        /// Columns of the format.
        legal: Cow<'static, str>,
    },
    /// Illegal value.
    #[error("`{field}` is `{found}`, which is {why}; legal: {legal}")]
    Field {
        /// Column name.
        field: &'static str,
        /// Value found, shortened.
        found: String,
        /// Reason.
        why: &'static str,
        /// Legal values.
        legal: Cow<'static, str>,
    },
    /// Time before that of an earlier row.
    #[error(
        "`time` goes back by {}; legal: ascending times, or --set flow.N.reorder=clamp, or closed pacing",
        interpulse_engine::Duration(*back_ns)
    )]
    Backwards {
        /// Difference in ns.
        back_ns: u64,
    },
    /// Incomplete record at the end of the file.
    #[error("has {found} bytes, then the file ends; legal: {bytes} bytes")]
    CutOff {
        /// Bytes found.
        found: usize,
        /// Record length.
        bytes: usize,
    },
    /// More devices than supported.
    #[error("names one device more than {DEVICES_MAX}, the most a trace may have")]
    TooManyDevices,
}

impl RowFault {
    pub(crate) fn field(
        field: &'static str,
        found: &str,
        why: &'static str,
        legal: impl Into<Cow<'static, str>>,
    ) -> RowFault {
        RowFault::Field { field, found: shorten(found), why, legal: legal.into() }
    }
}

/// `text` with settings written as `--set flow.N.KEY=VALUE`, adapted to the flow of this index or, without one, to
/// command-line options named like the keys.
pub(crate) fn addressed(text: &str, flow: Option<u64>) -> String {
    const SETTING: &str = "--set flow.N.";
    let mut parts = text.split(SETTING);
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A list is written as KEY=[A,B]: quoted for the shell in a setting, as A,B in an option.
        let list = part.split_once("=[").and_then(|(key, rest)| {
            let (words, rest) = rest.split_once(']')?;
            (!key.contains(char::is_whitespace)).then_some((key, words, rest))
        });
        all += &match (list, flow) {
            (None, Some(flow)) => format!("--set flow.{flow}.{part}"),
            (None, None) => format!("--{}", part.replacen('=', " ", 1)),
            (Some((key, words, rest)), Some(flow)) => {
                let quoted: Vec<_> = words.split(',').map(|word| format!("\"{word}\"")).collect();
                format!("--set 'flow.{flow}.{key}=[{}]'{rest}", quoted.join(","))
            }
            (Some((key, words, rest)), None) => format!("--{key} {words}{rest}"),
        };
    }
    all
}

/// At most 40 characters of `text`, with control characters escaped.
pub(crate) fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        short.push_str("...");
    }
    short
}
