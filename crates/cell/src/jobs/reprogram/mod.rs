//! Reprogram jobs (Gao et al., MICRO 2019, Section 3.3): page errors of word lines programmed in the conventional order, and of
//! word lines reprogrammed in random order within super layers.
//!
//! A job covers some layers of a block. Layers are statistically independent, so a sample of layers is representative.

mod block;
mod chip;
mod program_order;
mod table;

pub use chip::Chip;
pub(super) use table::table;

use super::{JobError, PresetRequest, check_range, overrides, request};
use crate::histogram::{Histogram, Levels, whole};
use crate::states::{self, PageType, STATES};
use block::{BlockSlice, SensedLine};
use interpulse_flash::reprogram::{Bit, Coding};
use program_order::MAX_STEPS;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

request! {
    /// Some layers of a block in one program order.
    struct Request {
        /// Layers of a super layer; 0 for the conventional order.
        super_layer: u32,
        /// Reprograms of each word line, by one state each; none in the conventional order.
        #[serde(default = "most")]
        steps: u8 = 0..=MAX_STEPS,
        /// Lowest layer.
        first_layer: u32,
        /// Number of layers, a multiple of `super_layer` except at the end of the block.
        layers: u32,
        /// Cells of a word line.
        cells: u32 = 64..=1 << 20,
        /// P/E cycles of the block.
        #[serde(default)]
        cycles: f64 = 0.0..=1e6,
        /// Use another chip of the same type.
        #[serde(default)]
        other_chip: bool,
        /// Additional reads of all pages after these retention times, in hours.
        #[serde(default)]
        hours: Vec<f64>,
        /// Temperature of the retention, in degrees Celsius.
        #[serde(default = "room")]
        celsius: f64 = -40.0..=150.0,
        /// Bin width of a histogram to return, in steps.
        histogram_bin: Option<u32>,
    }
}

fn room() -> f64 {
    25.0
}

fn most() -> u8 {
    MAX_STEPS
}

impl Request {
    /// Final window of the word lines, in states above ER to P3; 0 in the conventional order.
    fn reprograms(&self) -> u8 {
        if self.super_layer == 0 { 0 } else { self.steps }
    }
}

/// Bit errors of a page.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    /// Layer of the block.
    layer: u32,
    /// Word line of the layer.
    word_line: u32,
    /// Lower or upper for a reprogrammed word line.
    page_type: PageType,
    /// With the default read levels.
    errors_default: u64,
    /// With the calibrated levels of the word line.
    errors_calibrated: u64,
}

fn chip(request: &Request) -> Result<Chip, JobError> {
    let chip = Chip::resolve(&request.preset, overrides(&request.set)?)?;
    check_range("super_layer", request.super_layer, 0..=chip.layers)?;
    check_range("first_layer", request.first_layer, 0..=chip.layers - 1)?;
    check_range("layers", request.layers, 1..=chip.layers - request.first_layer)?;
    check_range("hours, their number,", request.hours.len(), 0..=1000)?;
    for &hours in &request.hours {
        check_range("hours", hours, 0.0..=1e6)?;
    }
    if let Some(bin) = request.histogram_bin {
        check_range("histogram_bin", bin, 1..=100)?;
    }
    let height = request.super_layer.max(1);
    let ends = request.first_layer + request.layers == chip.layers;
    let whole = |n: u32| n.is_multiple_of(height);
    if !whole(request.first_layer) || !(whole(request.layers) || ends) {
        let text = format!("first_layer = {}, layers = {}", request.first_layer, request.layers);
        return Err(JobError(format!(
            "{text}: whole super layers of {height}, except for the last of the block"
        )));
    }
    Ok(chip.aged(request.cycles, request.other_chip))
}

/// Returns the layers of a block and the word lines of a layer.
pub(super) fn block(request: &Value) -> Result<Value, JobError> {
    let request = PresetRequest::read("reprogram-block", request)?;
    let chip = Chip::resolve(&request.preset, overrides(&request.set)?)?;
    Ok(json!({ "layers": chip.layers, "word_lines": chip.word_lines }))
}

/// Programs some layers and reads every page with default and with calibrated levels.
///
/// Returns pulses and number of `first` programs and of reprograms (`again`); `pages` with bit errors; `aged`, the same after
/// each of `hours`; and `histogram`, cells by state and voltage.
pub(super) fn run(request: &Value) -> Result<Value, JobError> {
    let request = Request::read("reprogram", request)?;
    let chip = chip(&request)?;
    let (height, layers, reprograms) = (request.super_layer, request.layers, request.reprograms());
    let (steps, states) = match height {
        0 => (program_order::conventional(layers, chip.word_lines), 0..8),
        _ => {
            let steps = program_order::reprogrammed(
                layers,
                chip.word_lines,
                height,
                reprograms,
                request.seed,
                request.first_layer,
            );
            (steps, reprograms..reprograms + 4)
        }
    };
    let from = request.first_layer..request.first_layer + layers;
    let mut part = BlockSlice::erased(&chip, request.seed, from, request.cells as usize, states);
    let mut total = Histogram::default();
    part.program(&steps, |part, step| {
        if request.histogram_bin.is_some() && reprograms > 0 && step.below == reprograms {
            let (vth, data) = part.read_fresh(step.layer, step.word_line);
            total.add(&vth, &data.iter().map(|state| state - reprograms).collect::<Vec<u8>>());
        }
    });
    let default = whole(&chip.cells.read.default);
    let lowest = (height > 0).then_some(reprograms);
    let mut pages = Vec::new();
    part.read(|seen| {
        if request.histogram_bin.is_some() {
            total.add(seen.vth, seen.data);
        }
        pages.extend(errors(seen, &default, lowest));
    });
    let mut aged = Vec::new();
    for &hours in &request.hours {
        let mut pages = Vec::new();
        part.read_after(hours, request.celsius, request.cycles, |seen| {
            pages.extend(errors(seen, &default, lowest));
        });
        aged.push(pages);
    }
    let [first, again] =
        part.pulses.map(|(pulses, programs)| json!({ "pulses": pulses, "programs": programs }));
    let mut answer = json!({ "pages": pages, "aged": aged, "first": first, "again": again });
    if let Some(bin) = request.histogram_bin {
        answer["histogram"] = binned(&total, bin as i32);
    }
    Ok(answer)
}

/// Bit errors of the pages of a word line: three in TLC mode, two on the four states from `lowest`.
///
/// The four states are read as P4 to P7. Other histories have other bits, but the same boundaries of each page.
fn errors(seen: &SensedLine, default: &Levels, lowest: Option<u8>) -> Vec<Page> {
    let histogram = Histogram::of(seen.vth, seen.data);
    let best = histogram.best_levels(default);
    let row = |page_type: PageType, bit: &dyn Fn(u8) -> u8| Page {
        layer: seen.layer,
        word_line: seen.word_line,
        page_type,
        errors_default: histogram.errors(default, bit),
        errors_calibrated: histogram.errors(&best, bit),
    };
    let Some(lowest) = lowest else {
        return PageType::ALL
            .iter()
            .map(|&(_, page)| row(page, &move |state| states::bit(page, state)))
            .collect();
    };
    let up = Coding::LsbLsb.lowest() - lowest;
    let read = |page, bit| row(page, &move |state| u8::from(Coding::LsbLsb.read(bit, state + up)));
    vec![read(PageType::Lower, Bit::Lsb), read(PageType::Upper, Bit::Msb)]
}

/// Cells by state in bins of `bin` steps over the non-empty range; `from` is the start of the first bin.
fn binned(histogram: &Histogram, bin: i32) -> Value {
    let at = |v: i32| v.div_euclid(bin);
    let Some((low, high)) = histogram.rows().map(|(v, _)| at(v)).fold(None, |ends, v| match ends {
        None => Some((v, v)),
        Some((low, _)) => Some((low, v)),
    }) else {
        return Value::Null;
    };
    let mut states = vec![vec![0u64; (high - low + 1) as usize]; STATES];
    for (v, row) in histogram.rows() {
        for (counts, &n) in states.iter_mut().zip(row) {
            counts[(at(v) - low) as usize] += u64::from(n);
        }
    }
    json!({ "from": low * bin, "bin": bin, "states": states })
}
