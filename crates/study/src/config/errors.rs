//! Sections `[ecc]` and `[errors]`: bit errors, correction and retry.

use interpulse_engine::{Bytes, Duration};
use interpulse_flash::errors::{
    Ecc, ErrorSpec, ErrorTable, IDEAL, PRESETS, PowerOff, Retry, SoftStage, presets, read_table_file,
};
use interpulse_flash::parts::PartSpec;
use interpulse_settings::{ConfigError, Document, Origin, Section, default, optional, required};
use std::path::Path;
use std::sync::Arc;

/// Longest decoding stage.
const LONGEST: Duration = Duration::from_ms(10);

/// Values of `[ecc]` and `[errors]`.
pub(super) struct Read {
    pub latency: Duration,
    pub interval: Duration,
    pub errors: Option<Arc<ErrorSpec>>,
}

/// Reads both sections; a table path in the configuration file is relative to `folder`.
pub(super) fn read(document: &Document, part: &PartSpec, folder: &Path) -> Result<Read, ConfigError> {
    let mut errors = document.section("errors")?;
    let table = read_table(&mut errors, part, folder)?;
    let mut e = document.section("ecc")?;
    let interval = e.duration(
        "interval",
        "time between codewords entering the decoder of a channel",
        default(Duration::ZERO).at_most(LONGEST),
    )?;
    let latency = e.duration(
        "latency",
        "decode latency of a codeword (one per 4 KiB) without errors",
        default(Duration::from_us(4)).at_most(LONGEST),
    )?;
    let given = table.is_some();
    let ecc = e.when(given, "an errors.table other than \"ideal\"", |e| read_ecc(e, latency))?;
    let table = table.unwrap_or_else(|| ErrorTable::ideal(part.bits_per_cell as usize));
    let ecc = ecc.unwrap_or_default();
    let spec =
        errors.when(given, "an errors.table other than \"ideal\"", |s| read_errors(s, &table, &ecc))?;
    Ok(Read { latency, interval, errors: spec.map(Arc::new) })
}

fn read_table(s: &mut Section, part: &PartSpec, folder: &Path) -> Result<Option<ErrorTable>, ConfigError> {
    let doc = "raw bit error rates: a name of `interpulse list error-tables`, or a file with a table";
    let table = s.reference("table", doc, Some(IDEAL), PRESETS, |section, text, origin| {
        if text == IDEAL {
            return Ok((None, IDEAL.to_string()));
        }
        let table = if text.ends_with(".toml") {
            let beside = if matches!(origin, Origin::File { .. }) { folder } else { Path::new("") };
            let found = read_table_file(&beside.join(text));
            found.map_err(|error| error.of_key(section, "table", "a file with an error table"))?
        } else {
            presets::table(text).ok_or_else(|| {
                let names: Vec<&str> = PRESETS.iter().map(|&(name, _)| name).collect();
                section.invalid("table", format!("one of {}, or FILE.toml", names.join(", ")))
            })?
        };
        let bits = part.bits_per_cell as usize;
        if table.page_types.len() != bits {
            let types = table.page_types.len();
            let legal = format!("a table of {bits} page types, as part.bits-per-cell asks; this has {types}");
            return Err(section.invalid("table", legal));
        }
        let canonical = table.to_toml();
        Ok((Some(table), canonical))
    })?;
    Ok(table)
}

fn read_ecc(e: &mut Section, latency: Duration) -> Result<Ecc, ConfigError> {
    let codeword = e.bytes(
        "codeword",
        "data of a codeword in which ecc.capability errors are corrected",
        default(Bytes::kib(1)).within(Bytes(128)..=Bytes::kib(4)),
    )?;
    e.check(codeword.get().is_power_of_two(), "codeword", "a power of two from 128B to 4KiB")?;
    let codeword_bits = codeword.get() as u32 * 8;
    let capability = e.u32(
        "capability",
        "bit errors of a codeword that hard decoding corrects",
        default(80).within(1..=4096),
    )?;
    if capability > codeword_bits / 2 {
        return Err(e.conflict(&["capability", "codeword"], "no code corrects more than half of its bits"));
    }
    let latency_growth = e.f64(
        "latency-growth",
        "decoding takes ecc.latency x (1 + this x (errors / capability)^2)",
        default(0.0).within(0.0..=1000.0),
    )?;
    let max_latency = e.optional_duration(
        "max-latency",
        "longest hard decode, which is what one that fails takes; left out, as with ecc.capability errors",
        optional().at_most(LONGEST),
    )?;
    if max_latency.is_some_and(|most| most < latency) {
        return Err(e.conflict(&["max-latency", "latency"], "no decode is shorter than one without errors"));
    }
    let max_retries = e.u32(
        "max-retries",
        "most retry steps of a read, each a sensing with other read offsets",
        default(8).within(0..=63),
    )?;
    let retries = e.when(max_retries > 0, "max-retries of at least 1", read_retry)?;
    let predict = e.choice(
        "first-step",
        "what a read of a block starts with",
        Some("default"),
        &[
            ("default", false, "the sensing of a block that was never retried"),
            ("last-successful", true, "the retry step that its last read ended with"),
        ],
    )?;
    let soft = read_soft(e, capability, codeword_bits)?;
    let ecc = Ecc {
        codeword_bits,
        capability,
        latency_growth,
        max_latency,
        max_retries,
        predict,
        soft,
        ..Ecc::default()
    };
    Ok(match retries {
        Some((retry, retry_sensing_ppm)) => Ecc { retry, retry_sensing_ppm, ..ecc },
        None => ecc,
    })
}

/// Retry scheme, and sensing time of a retry step in millionths of tR.
fn read_retry(e: &mut Section) -> Result<(Retry, u32), ConfigError> {
    let doc = "when a page is sensed again: after a failed decode, during it (PR2), or before data leaves the die (RiF)";
    let retry = e.policy_index("retry", doc, Some("regular"), Retry::ROWS)?;
    let share = e.fraction(
        "retry-sensing",
        "sensing time of a retry step as a share of tR; less than all of it is adaptive retry (AR2)",
        default(1.0).within(0.1..=1.0),
    )?;
    Ok((e.policy_keys("retry", retry, Retry::ROWS)?, libm::round(share * 1e6) as u32))
}

fn read_soft(e: &mut Section, hard: u32, codeword_bits: u32) -> Result<Vec<SoftStage>, ConfigError> {
    let sensings = e.list_u32(
        "soft-sensings",
        "further sensings of each stage of soft decoding, after the last retry step; [] for none",
        Some(&[]),
        required().within(1..=15),
    )?;
    let stages = e.when(!sensings.is_empty(), "stages in soft-sensings", |e| {
        let capability = e.list_u32(
            "soft-capability",
            "bit errors of a codeword that each stage of soft decoding corrects",
            None,
            required().within(1..=codeword_bits / 2),
        )?;
        let latency = e.list_duration(
            "soft-latency",
            "decode latency of each stage of soft decoding",
            None,
            required().at_most(LONGEST),
        )?;
        Ok((capability, latency))
    })?;
    let Some((capability, latency)) = stages else { return Ok(Vec::new()) };
    e.check(sensings.len() <= 8, "soft-sensings", "at most 8 stages")?;
    if capability.len() != sensings.len() || latency.len() != sensings.len() {
        let message = format!(
            "{} stages have {} capabilities and {} latencies; each needs one",
            sensings.len(),
            capability.len(),
            latency.len()
        );
        return Err(e.conflict(&["soft-sensings", "soft-capability", "soft-latency"], message));
    }
    let mut before = hard;
    for &c in &capability {
        if c <= before {
            let legal = format!("more in each stage than before it; hard decoding corrects {hard}");
            return Err(e.invalid("soft-capability", legal));
        }
        before = c;
    }
    let stages = sensings.into_iter().zip(capability).zip(latency);
    Ok(stages.map(|((sensings, capability), latency)| SoftStage { sensings, capability, latency }).collect())
}

fn read_errors(s: &mut Section, table: &ErrorTable, ecc: &Ecc) -> Result<ErrorSpec, ConfigError> {
    let spec = ErrorSpec::read(s, table, ecc)?;
    let most = *table.reprograms.last().expect("a table has points");
    let expected = format!("at most {most}, where the table ends");
    s.check(spec.reprograms <= f64::from(most), "reprograms", expected)?;
    let (asked, last) = (spec.initial_retention_h(), spec.table.retention_h.last().copied().unwrap_or(0.0));
    let message = format!(
        "this age at {} degrees is worth {asked:.0} h at the table's {}, which ends at {last} h",
        spec.temperature_c, spec.table.temperature_c
    );
    let off = (spec.initial_off != PowerOff::default()).then_some("initial-off");
    let keys: Vec<&str> = ["initial-age"].into_iter().chain(off).chain(["temperature-c", "table"]).collect();
    s.check_together(asked <= last * (1.0 + 1e-9), &keys, message)?;
    Ok(spec)
}
