//! The description of a replay.

use super::format::Format;
use super::unit::TimeUnit;
use crate::error::Illegal;
use crate::synthetic::depth::{check_depth, read_depth};
use interpulse_settings::{ConfigError, Row, Section, choices, default};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Factors of speed.
const SPEED: RangeInclusive<f64> = 1e-6..=1e6;

/// The replay of a trace file.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceSpec {
    /// The file: a regular file, plain, gzip or zstd (told by its content).
    pub path: PathBuf,
    /// How its rows are written.
    pub format: Format,
    /// The unit of its times; left out, that of its format or, where that cannot be, the one that is plausible.
    pub time_unit: Option<TimeUnit>,
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
            time_unit: None,
            pacing: TracePacing::Recorded { speed: 1.0 },
            fit: Fit::Error,
            reorder: Reorder::Error,
            skip_bad_rows: false,
        }
    }

    pub(crate) fn check(&self) -> Result<(), Illegal> {
        match self.pacing {
            TracePacing::Closed { depth } => check_depth(depth),
            TracePacing::Recorded { speed } if SPEED.contains(&speed) => Ok(()),
            TracePacing::Recorded { speed } => {
                Err(Illegal::new("speed", speed, "1e-6 to 1e6 (2 replays twice as fast as recorded)"))
            }
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

choices! {
    /// How a trace is laid onto the drive.
    ///
    /// A trace of several devices lays them side by side in ascending order of host name and device number,
    /// each in a region of its highest sector rounded up to 1 MiB; a single device keeps its addresses.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Fit {
        /// a request beyond the drive is an error that names its line
        Error = "error",
        /// addresses modulo the capacity; a request that would straddle the end is moved before it
        Fold = "fold",
        /// the occupied range is mapped linearly onto the drive, aligned to 4 KiB
        // Starts are aligned down and sizes stay: a shrunken trace overlaps itself, a stretched one has gaps.
        Scale = "scale",
    }
}

choices! {
    /// What becomes of a row whose time lies before that of an earlier row.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Reorder {
        /// a row earlier than the row before it is a bad row
        Error = "error",
        /// such a row arrives together with the latest row before it
        Clamp = "clamp",
    }
}

impl TracePacing {
    /// What the configuration reads.
    pub const ROWS: &'static [Row<TracePacing>] = &[
        Row {
            name: "recorded",
            doc: "requests arrive at their recorded times, sped up or slowed down",
            read: read_recorded,
        },
        Row { name: "closed", doc: "a fixed number of requests is kept outstanding", read: read_closed },
    ];
}

fn read_recorded(s: &mut Section) -> Result<TracePacing, ConfigError> {
    let speed = s.f64("speed", "2 replays twice as fast as recorded", default(1.0).within(SPEED))?;
    Ok(TracePacing::Recorded { speed })
}

fn read_closed(s: &mut Section) -> Result<TracePacing, ConfigError> {
    Ok(TracePacing::Closed { depth: read_depth(s)? })
}

impl Fit {
    /// Reads what traces and twins share: when requests are issued, and what becomes of addresses beyond the drive.
    pub fn read_replay(s: &mut Section) -> Result<(TracePacing, Fit), ConfigError> {
        let pacing =
            s.policy("pacing", "recorded times, or closed loop", Some("recorded"), TracePacing::ROWS)?;
        let fit = s.choice("fit", "what becomes of addresses beyond the drive", Some("error"), Fit::ALL)?;
        Ok((pacing, fit))
    }
}

impl TraceSpec {
    /// Reads a replay from the section of its flow.
    ///
    /// Fails on missing, malformed or contradicting keys; unknown ones are left to [`Section::finish`].
    pub fn read(s: &mut Section) -> Result<TraceSpec, ConfigError> {
        let path = s.label("trace", "block trace to replay: plain, .gz or .zst")?.unwrap_or_default();
        let format = Format::read(s)?;
        let unit = "unit of the times; left out, that of the format, or what is plausible";
        let time_unit = s.optional_choice("time-unit", unit, TimeUnit::ALL)?;
        let (pacing, fit) = Fit::read_replay(s)?;
        let reorder =
            s.choice("reorder", "what becomes of rows whose time goes back", Some("error"), Reorder::ALL)?;
        let skip_bad_rows =
            s.bool("skip-bad-rows", "count bad rows instead of stopping at the first", default(false))?;
        if path.is_empty() && s.has("trace") {
            return Err(s.invalid("trace", "the path of a block trace (or give --trace FILE)"));
        }
        Ok(TraceSpec { path: path.into(), format, time_unit, pacing, fit, reorder, skip_bad_rows })
    }
}
