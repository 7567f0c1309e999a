//! The description of a replay.

use super::format::Format;
use super::unit::TimeUnit;
use crate::error::Illegal;
use crate::spec::Pacing;
use crate::synthetic::depth::{check_depth, read_depth};
use interpulse_settings::{ConfigError, Row, Section, choices, default, keys};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Factors of speed.
const SPEED: RangeInclusive<f64> = 1e-6..=1e6;

keys! {
    /// The replay of a trace file.
    #[derive(Clone, PartialEq, Debug)]
    pub struct TraceSpec, pub fn read(s) {
        /// The file: a regular file, plain, gzip or zstd (told by its content).
        pub path: PathBuf =>
            s.label("trace", "block trace to replay: plain, .gz or .zst")?.unwrap_or_default().into(),
        /// How its rows are written.
        pub format: Format => Format::read(s)?,
        /// unit of the times; left out, that of the format, or what is plausible
        pub time_unit: Option<TimeUnit> = optional_choice(TimeUnit::ALL),
        /// When its requests are issued.
        pub pacing: TracePacing => TracePacing::read(s)?,
        /// What becomes of requests beyond the drive.
        pub fit: Fit => Fit::read(s)?,
        /// what becomes of rows whose time goes back
        // Only with recorded pacing; closed pacing issues the rows in file order whatever their times.
        pub reorder: Reorder = choice(Some("error"), Reorder::ALL),
        /// count bad rows instead of stopping at the first
        // They are counted in [`crate::TraceSummary`]. Rows beyond the drive are not bad rows: `fit` decides about those.
        pub skip_bad_rows: bool = bool(default(false)),
    } check {
        let named = path != PathBuf::new() || !s.has("trace");
        s.check(named, "trace", "the path of a block trace (or give --trace FILE)")?;
    }
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
            read: |s| {
                let doc = "2 replays twice as fast as recorded";
                Ok(TracePacing::Recorded { speed: s.f64("speed", doc, default(1.0).within(SPEED))? })
            },
        },
        Row {
            name: "closed",
            doc: "a fixed number of requests is kept outstanding",
            read: |s| Ok(TracePacing::Closed { depth: read_depth(s)? }),
        },
    ];

    /// Reads when requests are issued.
    pub fn read(s: &mut Section) -> Result<TracePacing, ConfigError> {
        s.policy("pacing", "recorded times, or closed loop", Some("recorded"), TracePacing::ROWS)
    }

    /// When to ask for the next request.
    pub(crate) fn asks(self) -> Pacing {
        match self {
            TracePacing::Recorded { .. } => Pacing::Open,
            TracePacing::Closed { depth } => Pacing::Closed { depth },
        }
    }
}

impl Fit {
    /// Reads what becomes of addresses beyond the drive.
    pub fn read(s: &mut Section) -> Result<Fit, ConfigError> {
        s.choice("fit", "what becomes of addresses beyond the drive", Some("error"), Fit::ALL)
    }
}
