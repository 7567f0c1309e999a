//! Word lines that are programmed and then left alone (Zambelli et al. 2021, Figure 9b).

use super::suspend::word_line;
use super::{JobError, page_type, parse, tester, within};
use crate::cells::Cells;
use crate::coefficients::Coefficients;
use crate::histogram::{Histogram, whole};
use crate::history::{History, aged};
use crate::program;
use crate::reading::sensed;
use crate::states::PageType;
use interpulse_engine::random::mix;
use serde::Deserialize;
use serde_json::{Value, json};

/// A sample of word lines at several ages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// Selects the block.
    seed: u64,
    /// Cell preset.
    preset: String,
    /// Overrides of `[cell]` and `[part]`.
    #[serde(default)]
    set: Vec<(String, String)>,
    /// The page whose errors are counted.
    page_type: String,
    /// Word lines, the first ones of the sample that the seed selects.
    word_lines: u32,
    /// Cells of a word line.
    cells: u32,
    /// Program/erase cycles of the block.
    #[serde(default)]
    cycles: f64,
    /// Ages at which it is read, in hours after programming.
    hours: Vec<f64>,
    /// Temperature since.
    celsius: f64,
}

/// Programs every word line once and reads it at each age; see [`Request`].
///
/// Returns the bit errors of each word line, age by age.
pub(super) fn run(request: &Value) -> Result<Value, JobError> {
    let request: Request = parse("aged", request)?;
    let page = page_type(&request.page_type)?;
    within("word_lines", request.word_lines, 1, 100_000)?;
    within("cells", request.cells, 64, 1 << 20)?;
    within("cycles", request.cycles, 0.0, 1e6)?;
    within("celsius", request.celsius, -55.0, 150.0)?;
    for &hours in &request.hours {
        within("hours", hours, 0.0, 1e6)?;
    }
    let of = tester(&request.preset, &request.set, "none", "none")?.cells;
    let worn = of.worn(request.cycles);
    let cycle = request.cycles as u64;
    let mut ages: Vec<Vec<Value>> = vec![Vec::new(); request.hours.len()];
    for k in 0..request.word_lines {
        let mut cells =
            Cells::erased(&worn, request.cells as usize, mix(word_line(request.seed, k) ^ UNTOUCHED), cycle);
        let data = cells.random_data(cycle, 0..8);
        program::program(&worn, &mut cells, &data, cycle);
        for (read, (&hours, rows)) in request.hours.iter().zip(&mut ages).enumerate() {
            let history = History { hours, celsius: request.celsius, ..History::fresh(&of, request.cycles) };
            rows.push(errors(&of, &aged(&of, &cells, cycle, &history), &data, page, read as u64));
        }
    }
    let ages: Vec<Value> = request
        .hours
        .iter()
        .zip(ages)
        .map(|(hours, rows)| json!({ "hours": hours, "word_lines": rows }))
        .collect();
    Ok(json!({ "ages": ages }))
}

/// Makes it another block than the one that is suspended.
const UNTOUCHED: u64 = 1 << 41;

/// The bit errors of one page, with the part's read levels and with the best ones.
fn errors(of: &Coefficients, cells: &Cells, data: &[u8], page: PageType, read: u64) -> Value {
    let default = whole(&of.read.default);
    let histogram = Histogram::of(&sensed(of, cells, read), data);
    json!({
        "bits": data.len(),
        "errors_default": histogram.page_errors(&default, page),
        "errors_calibrated": histogram.page_errors(&histogram.best_levels(&default), page),
    })
}
