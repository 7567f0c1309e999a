//! Configuration reader of twin rows.

use super::Plan;
use super::sizes::TwinSizes;
use super::spec::{REQUESTS_MAX, TwinRow, UpdateShape};
use crate::synthetic::arrival::squared_variation;
use crate::trace::spec::TracePacing;
use interpulse_engine::{Bytes, Duration, SECTOR};
use interpulse_settings::{ConfigError, Document, FileError, Section, default, optional, required};
use std::path::Path;

/// Section of a row in a separate file.
pub const SECTION: &str = "twin";

/// Relative tolerance of redundant figures of a row, which are rounded in print.
const ROUNDED: f64 = 0.02;

/// Reads the row in the file at `path`, for `requests` requests if given (see [`TwinRow::with_requests`]).
///
/// Errors: the file cannot be read, or an error of [`TwinRow::read`].
pub fn row_in_file(path: &Path, requests: Option<u64>) -> Result<TwinRow, FileError> {
    let document = Document::in_file(path, "twin row ", 1)?;
    let row = TwinRow::read(&mut document.section(SECTION)?, &path.display().to_string(), requests)?;
    document.finish()?;
    Ok(row)
}

impl TwinRow {
    /// Reads a row from its section, for `requests` requests if given.
    ///
    /// Errors: missing, malformed or contradictory keys, or a row that no twin matches. [`Section::finish`] reports
    /// unknown keys, except those reported with one of these errors.
    pub fn read(s: &mut Section, name: &str, requests: Option<u64>) -> Result<TwinRow, ConfigError> {
        s.label("title", "title of the row")?;
        let stated = s.u64("requests", "number of requests", required().within(2..=REQUESTS_MAX))?;
        let write_share = s.fraction("write-share", "share of the requests that write", required())?;
        let mut row = TwinRow {
            name: name.to_string(),
            requests: stated,
            write_share,
            reads: TwinSizes::Mean(4096.0),
            writes: TwinSizes::Mean(4096.0),
            rewritten_share: 0.0,
            update_skew: None,
            update_shape: UpdateShape::default(),
            mean_gap: s.duration(
                "mean-gap",
                "mean time between two requests",
                required().within(Duration::from_us(1)..=Duration::from_ms(1_000_000)),
            )?,
            squared_variation: squared_variation(s)?,
            read_overlap: 0.0,
            read_only: None,
        };
        match write_share < 1.0 {
            true => read_reads(s, &mut row)?,
            false => {
                for key in ["read-size", "read-sizes", "read-weights", "read-overlap", "read-only"] {
                    s.refuse(key, "no request reads, with a write-share of 1")?;
                }
            }
        }
        match write_share > 0.0 {
            true => read_writes(s, &mut row)?,
            false => {
                let keys =
                    ["write-size", "write-sizes", "write-weights", "unique-written", "rewritten-share"];
                for key in keys.into_iter().chain(["update-skew"]) {
                    s.refuse(key, "no request writes, with a write-share of 0")?;
                }
            }
        }
        s.finish()?;
        let row = row.with_requests(requests.unwrap_or(stated));
        // The issue rate is unknown here: the flow checks the duration.
        match Plan::new(&row, TracePacing::Closed { depth: 1 }) {
            Ok(_) => Ok(row),
            Err(illegal) => {
                let given = illegal.field == "rewritten-share" && !s.has("rewritten-share");
                let key = if given { "unique-written" } else { illegal.field.as_str() };
                Err(s.invalid(key, format!("{} (for {} requests)", illegal.legal, row.requests)))
            }
        }
    }
}

fn read_reads(s: &mut Section, row: &mut TwinRow) -> Result<(), ConfigError> {
    let keys = ["read-size", "read-sizes", "read-weights"];
    row.reads = sizes(s, keys, ["mean size of a read", "sizes of reads", "weights of the sizes of reads"])?;
    row.read_overlap = s.fraction(
        "read-overlap",
        "share of the reads that go to written addresses, to each in proportion to its writes",
        default(if row.write_share > 0.0 { 0.5 } else { 0.0 }),
    )?;
    row.read_only = s.optional_bytes(
        "read-only",
        "volume of the read-only part; default: the written volume",
        optional().positive().at_most(Bytes(1 << 52)),
    )?;
    Ok(())
}

fn read_writes(s: &mut Section, row: &mut TwinRow) -> Result<(), ConfigError> {
    let keys = ["write-size", "write-sizes", "write-weights"];
    row.writes =
        sizes(s, keys, ["mean size of a write", "sizes of writes", "weights of the sizes of writes"])?;
    let unique = s.optional_amount(
        "unique-written",
        "volume of the distinct sectors written, by all requests of the row",
        optional().positive(),
    )?;
    let rewritten = s.optional_fraction(
        "rewritten-share",
        "share of the written volume that is rewritten",
        optional().at_least(0.0).at_most(0.999_999),
    )?;
    let written = row.written_bytes();
    row.rewritten_share = match (unique, rewritten) {
        (None, None) => {
            return Err(s.invalid("rewritten-share", "a fraction here, or a volume as unique-written"));
        }
        (None, Some(share)) => share,
        (Some(unique), share) => {
            if unique > written * (1.0 + ROUNDED) {
                let message = format!("more than the {written:.0}B that the row writes in all");
                return Err(s.conflict(&["unique-written", "requests", "write-share"], message));
            }
            let stated = written * (1.0 - share.unwrap_or(1.0 - unique / written));
            if (unique - stated).abs() > ROUNDED * unique {
                let message = format!("of {written:.0}B written, this share leaves {stated:.0}B unique");
                return Err(s.conflict(&["rewritten-share", "unique-written"], message));
            }
            (1.0 - unique / written).max(0.0)
        }
    };
    row.update_skew = s.optional_fraction(
        "update-skew",
        "share of the updates on the busiest 20 % of the written pages; default: evenly distributed",
        optional().within(0.2..=1.0),
    )?;
    Ok(())
}

fn sizes(
    s: &mut Section,
    keys: [&'static str; 3],
    docs: [&'static str; 3],
) -> Result<TwinSizes, ConfigError> {
    let [mean, list, weights] = keys;
    if !s.has(list) {
        s.refuse(weights, format!("it belongs to `{list}`"))?;
        let range = required().within(512.0..=16_777_216.0);
        return Ok(TwinSizes::Mean(s.amount(mean, docs[0], range)?));
    }
    s.refuse(mean, format!("`{list}` gives the sizes"))?;
    let sizes = s.list_bytes(list, docs[1], None, required().within(Bytes(512)..=Bytes::mib(16)))?;
    let shares = s.list_f64(weights, docs[2], None, required().positive().at_most(1e15))?;
    s.check(sizes.iter().all(|size| size.get().is_multiple_of(SECTOR.get())), list, "multiples of 512B")?;
    if sizes.len() != shares.len() || sizes.is_empty() {
        return Err(s.conflict(&[weights, list], "there must be one weight for each size"));
    }
    Ok(TwinSizes::Listed(sizes.into_iter().zip(shares).collect()))
}
