//! Description of a trace replay.

use super::format::{AddressUnit, Format};
use super::unit::TimeUnit;
use crate::error::Illegal;
use crate::synthetic::queue_depth::{check_depth, read_depth};
use interpulse_engine::Bytes;
use interpulse_settings::{ConfigError, Row, Section, choices, default, keys, optional};
use std::ops::RangeInclusive;
use std::path::PathBuf;

const PASSES: RangeInclusive<u32> = 1..=1_000_000;
const SPEED: RangeInclusive<f64> = 1e-6..=1e6;
const UNITS: RangeInclusive<Bytes> = Bytes(1)..=Bytes(1 << 30);

/// Whether the rows have the times that recorded pacing needs.
fn timed(format: &Format, pacing: TracePacing) -> bool {
    let untimed = matches!(format, Format::Columns(columns) if columns.has_no_time());
    !untimed || matches!(pacing, TracePacing::Closed { .. })
}

/// What `address-unit` must be for this format, if it is not that.
fn misused_address_unit(format: &Format, unit: Option<Bytes>) -> Option<&'static str> {
    match (format.address_unit(), unit) {
        (AddressUnit::Required, None) => {
            Some("the bytes from one address to the next, such as 4KiB, which the file does not give")
        }
        (AddressUnit::Fixed, Some(_)) => {
            Some("no unit for this format, whose addresses have several columns")
        }
        _ => None,
    }
}

keys! {
    /// Replay of a trace file.
    #[derive(Clone, PartialEq, Debug)]
    pub struct TraceSpec, pub fn read(s) {
        /// Path of a regular file, plain, gzip or zstd (identified by its content).
        pub path: PathBuf =>
            s.label("trace", "block trace to replay: plain, .gz or .zst")?.unwrap_or_default().into(),
        /// Format of the rows.
        pub format: Format => Format::read(s)?,
        /// unit of the times; default: the unit of the format, or the most plausible one
        pub time_unit: Option<TimeUnit> = optional_choice(TimeUnit::ALL),
        /// unit of addresses, such as 512B or 4KiB; default: the unit of the format
        pub address_unit: Option<Bytes> = optional_bytes(optional().within(UNITS)),
        /// unit of sizes; default: address-unit if that is set and the format has one unit for both
        pub size_unit: Option<Bytes> = optional_bytes(optional().within(UNITS)),
        /// the only device of the trace that is replayed; default: all, of stacked devices the lowest
        pub device: Option<String> = optional_name(),
        /// treatment of the discards
        pub discards: Treatment = choice(Some("replay"), Treatment::ALL),
        /// treatment of the flushes, those of writes included
        pub flushes: Treatment = choice(Some("replay"), Treatment::ALL),
        /// Repetition of the whole trace.
        pub repeat: Repeat => Repeat::read(s)?,
        /// Pacing of the requests.
        pub pacing: TracePacing => TracePacing::read(s)?,
        /// Handling of requests beyond the drive.
        pub fit: Fit => Fit::read(s)?,
        /// handling of rows whose time decreases
        // Only with recorded pacing; closed pacing issues the rows in file order whatever their times.
        pub reorder: Reorder = choice(Some("error"), Reorder::ALL),
        /// count bad rows instead of stopping at the first
        // Reported in [`crate::TraceSummary`]. Rows beyond the drive are not bad rows: `fit` applies to them.
        pub skip_bad_rows: bool = bool(default(false)),
    } check {
        let named = path != PathBuf::new() || !s.has("trace");
        s.check(named, "trace", "the path of a block trace (or give --trace FILE)")?;
        if let Some(expected) = misused_address_unit(&format, address_unit) {
            return Err(s.invalid("address-unit", expected));
        }
        let timed = timed(&format, pacing);
        s.check(timed, "columns", "a list with time, or pacing = \"closed\", which needs no times")?;
    }
}

impl TraceSpec {
    /// Strict replay at recorded times: format by [`Format::Auto`], no bad or late rows, no requests beyond the
    /// drive.
    pub fn new(path: impl Into<PathBuf>) -> TraceSpec {
        TraceSpec {
            path: path.into(),
            format: Format::Auto,
            time_unit: None,
            address_unit: None,
            size_unit: None,
            device: None,
            discards: Treatment::Replay,
            flushes: Treatment::Replay,
            repeat: Repeat::ONCE,
            pacing: TracePacing::Recorded { speed: 1.0 },
            fit: Fit::Error,
            reorder: Reorder::Error,
            skip_bad_rows: false,
        }
    }

    /// What `address-unit` must be for the format, if it is not that.
    pub fn wrong_address_unit(&self) -> Option<&'static str> {
        misused_address_unit(&self.format, self.address_unit)
    }

    pub(crate) fn check(&self) -> Result<(), Illegal> {
        if let Some(expected) = self.wrong_address_unit() {
            let seen = self.address_unit.map_or("none".to_owned(), |unit| unit.to_string());
            return Err(Illegal::new("address-unit", seen, expected));
        }
        Illegal::unless(
            timed(&self.format, self.pacing),
            "columns",
            "without time",
            "a time, or closed pacing",
        )?;
        let legal = format!("{} to {}", PASSES.start(), PASSES.end());
        Illegal::unless(PASSES.contains(&self.repeat.passes), "repeat", self.repeat.passes, legal)?;
        match self.pacing {
            TracePacing::Closed { depth } => check_depth(depth),
            TracePacing::Recorded { speed } if SPEED.contains(&speed) => Ok(()),
            TracePacing::Recorded { speed } => {
                Err(Illegal::new("speed", speed, "1e-6 to 1e6 (2 replays twice as fast as recorded)"))
            }
        }
    }
}

/// Pacing of a trace replay.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TracePacing {
    /// Recorded times relative to the first row, which arrives at the start of the flow.
    Recorded {
        /// Divisor of the gaps, 1e-6 to 1e6: 2 replays twice as fast.
        speed: f64,
    },
    /// File order with `depth` outstanding requests; recorded times are ignored.
    Closed {
        /// Outstanding requests, 1 to 65535.
        depth: u32,
    },
}

choices! {
    /// Treatment of a kind of rows.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Treatment {
        /// replayed as requests
        Replay = "replay",
        /// left out and counted
        Skip = "skip",
    }
}

choices! {
    /// Addresses of the later passes over a trace.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum RepeatAddresses {
        /// those of the first pass
        Same = "same",
        /// moved on by the addresses that the trace occupies, in each pass
        Shifted = "shifted",
    }
}

/// Repetition of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repeat {
    /// Passes over the trace, 1 to 1,000,000.
    pub passes: u32,
    /// Addresses of the later passes.
    pub addresses: RepeatAddresses,
}

impl Repeat {
    /// A single pass.
    pub const ONCE: Repeat = Repeat { passes: 1, addresses: RepeatAddresses::Same };

    fn read(s: &mut Section) -> Result<Repeat, ConfigError> {
        let passes = s.u32("repeat", "passes over the trace; times continue", default(1).within(PASSES))?;
        let addresses = s.when(passes > 1, "repeat", |s| {
            let doc = "addresses of the later passes";
            s.choice("repeat-addresses", doc, Some("same"), RepeatAddresses::ALL)
        })?;
        Ok(Repeat { passes, addresses: addresses.unwrap_or(RepeatAddresses::Same) })
    }
}

choices! {
    /// Mapping of a trace onto the drive.
    ///
    /// Several devices are placed side by side in ascending order of host name and device number, each in a region of
    /// its highest sector rounded up to 1 MiB; a single device keeps its addresses.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Fit {
        /// a request beyond the drive is an error that reports its line
        Error = "error",
        /// addresses modulo the capacity; a request that would straddle the end is moved before it
        Fold = "fold",
        /// the occupied range is mapped linearly onto the drive, aligned to 4 KiB
        // Starts are aligned down and sizes are unchanged: a compressed trace overlaps itself, a stretched one has
        // gaps.
        Scale = "scale",
    }
}

choices! {
    /// Handling of a row whose time lies before that of an earlier row.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Reorder {
        /// a row earlier than the row before it is a bad row
        Error = "error",
        /// a late row arrives at the same time as the latest row before it
        Clamp = "clamp",
    }
}

impl TracePacing {
    /// Pacing variants in the configuration.
    pub const ROWS: &'static [Row<TracePacing>] = &[
        Row {
            name: "recorded",
            doc: "requests arrive at their recorded times, divided by a speed factor",
            read: |s| {
                let doc = "2 replays twice as fast as recorded";
                Ok(TracePacing::Recorded { speed: s.f64("speed", doc, default(1.0).within(SPEED))? })
            },
        },
        Row {
            name: "closed",
            doc: "a fixed number of requests is outstanding",
            read: |s| Ok(TracePacing::Closed { depth: read_depth(s)? }),
        },
    ];

    /// Reads the pacing.
    pub fn read(s: &mut Section) -> Result<TracePacing, ConfigError> {
        s.policy("pacing", "recorded times, or closed loop", Some("recorded"), TracePacing::ROWS)
    }
}

impl Fit {
    /// Reads the handling of addresses beyond the drive.
    pub fn read(s: &mut Section) -> Result<Fit, ConfigError> {
        s.choice("fit", "handling of addresses beyond the drive", Some("error"), Fit::ALL)
    }
}
