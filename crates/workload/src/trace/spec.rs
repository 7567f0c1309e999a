//! The description of a replay.

use crate::error::Illegal;
use crate::synthetic::check_depth;
use std::path::PathBuf;

/// The replay of a trace file.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceSpec {
    /// The file: a regular file, plain, gzip or zstd (told by its content).
    pub path: PathBuf,
    /// How its rows are written.
    pub format: Format,
    /// When its requests are issued.
    pub pacing: TracePacing,
    /// What becomes of requests beyond the drive.
    pub fit: Fit,
    /// What becomes of recorded times that go backwards (only with recorded pacing; closed pacing issues
    /// the rows in file order whatever their times).
    pub reorder: Reorder,
    /// Leave out rows that cannot be read (they are counted, see [`crate::TraceSummary`]) instead of
    /// refusing the trace. Rows beyond the drive are not bad rows: `fit` decides about those.
    pub skip_bad_rows: bool,
}

impl TraceSpec {
    /// A strict replay at recorded times: format by [`Format::Auto`], no row may be bad or out of order,
    /// none beyond the drive.
    pub fn new(path: impl Into<PathBuf>) -> TraceSpec {
        TraceSpec {
            path: path.into(),
            format: Format::Auto,
            pacing: TracePacing::Recorded { speed: 1.0 },
            fit: Fit::Error,
            reorder: Reorder::Error,
            skip_bad_rows: false,
        }
    }

    pub(crate) fn check(&self) -> Result<(), Illegal> {
        match self.pacing {
            TracePacing::Closed { depth } => check_depth(depth),
            TracePacing::Recorded { speed } if (1e-6..=1e6).contains(&speed) => Ok(()),
            TracePacing::Recorded { speed } => {
                Err(Illegal::new("speed", speed, "1e-6 to 1e6 (2 replays twice as fast as recorded)"))
            }
        }
    }
}

/// How the rows of a trace are written. See [`crate::FORMATS`] for the names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Told from the file, by these rules in this order:
    ///
    /// 1. An ending `.gz` or `.zst` of the name is set aside (case does not matter here or below).
    /// 2. A name ending in `.disksim`, `.ssdsim-ms`, `.mqsim`, `.msr` or `.spc` has that format.
    /// 3. Otherwise the first line that is not blank or a comment decides: the header of MSR files, or seven columns between commas with
    ///    `Read` or `Write` in the fourth, are `msr`; five or more columns between commas with `r` or `w`
    ///    in the fourth are `spc`.
    /// 4. Five columns between blanks are some `ascii`, but nothing tells the time unit: an error asks for
    ///    the format. So does anything else.
    Auto,
    /// MSR Cambridge CSV: `FILETIME,host,disk,Type,offset,size,response`; time in 100 ns since 1601, Type
    /// `Read` or `Write`, offset and size in bytes (widened to whole sectors). The response is checked to
    /// be a number and ignored. The usual header line is accepted as first row.
    Msr,
    /// SPC-1 trace file format as in the UMass repository: `ASU,LBA,size,opcode,time` and possibly further
    /// columns, which are ignored; LBA in 512 B sectors, size in bytes (widened to whole sectors), opcode
    /// `r` or `w` in either case, time in seconds with decimals.
    Spc,
    /// `time device lba sectors type` between blanks, LBA in 512 B sectors: the family of DiskSim, SSDSim
    /// and MQSim.
    Ascii(AsciiLayout),
    /// [`Format::Ascii`] with time in ns, type 1 = read. (DiskSim itself writes ms with decimals; for such
    /// files name `ssdsim-ms`. Decimals in ns are refused, so the two cannot be confused.)
    DiskSim,
    /// [`Format::Ascii`] with time in ms, type 1 = read.
    SsdSimMs,
    /// [`Format::Ascii`] with time in ns, type 1 = read.
    MqSim,
}

/// What the ascii family leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AsciiLayout {
    /// Unit of the time column.
    pub time: TimeUnit,
    /// Meaning of the type column.
    pub types: TypeCode,
}

/// Unit of a time column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeUnit {
    /// Whole nanoseconds.
    Ns,
    /// Microseconds, decimals allowed.
    Us,
    /// Milliseconds, decimals allowed.
    Ms,
}

/// Which of 0 and 1 in the type column is a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeCode {
    /// 0 = write, 1 = read.
    ZeroWrites,
    /// 0 = read, 1 = write.
    OneWrites,
}

impl Format {
    /// The format of this name in [`crate::FORMATS`]; `None` for unknown names and for `ascii`, which is
    /// not complete without an [`AsciiLayout`].
    pub fn named(name: &str) -> Option<Format> {
        [Format::Auto, Format::Msr, Format::Spc, Format::DiskSim, Format::SsdSimMs, Format::MqSim]
            .into_iter()
            .find(|format| format.name() == name)
    }

    /// The format that the end of a file name tells, as [`Format::Auto`] does.
    pub fn of_name(file_name: &str) -> Option<Format> {
        super::detect::by_name(file_name)
    }

    /// The name in [`crate::FORMATS`].
    pub fn name(self) -> &'static str {
        match self {
            Format::Auto => "auto",
            Format::Msr => "msr",
            Format::Spc => "spc",
            Format::Ascii(_) => "ascii",
            Format::DiskSim => "disksim",
            Format::SsdSimMs => "ssdsim-ms",
            Format::MqSim => "mqsim",
        }
    }
}

/// When the requests of a trace are issued.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TracePacing {
    /// At their recorded times, counted from the first row, which arrives at the flow's start.
    Recorded {
        /// Gaps are divided by this, 1e-6 to 1e6: 2 replays twice as fast.
        speed: f64,
    },
    /// In file order, `depth` outstanding; recorded times are ignored.
    Closed {
        /// Outstanding requests, 1 to 65535.
        depth: u32,
    },
}

/// How a trace is laid onto the drive.
///
/// A trace of several devices lays them side by side in ascending order of host name and device number,
/// each in a region of its highest sector rounded up to 1 MiB; a single device keeps its addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fit {
    /// A request beyond the drive is an error that names its line.
    Error,
    /// Addresses are taken modulo the capacity; a request that would straddle the end is moved back to end
    /// there.
    Fold,
    /// The occupied range is mapped linearly onto the whole drive. Starts are aligned down to 4 KiB and
    /// sizes stay, so a shrunken trace overlaps itself and a stretched one has gaps.
    Scale,
}

/// What becomes of a row whose time lies before that of an earlier row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reorder {
    /// It is a bad row.
    Error,
    /// It arrives together with the latest row before it.
    Clamp,
}
