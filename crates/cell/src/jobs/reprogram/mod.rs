//! Reprogramming on the tester (Gao et al., MICRO 2019, Section 3.3): how many errors pages have when word lines are programmed
//! in the conventional order, and when they are reprogrammed some times in random order within super layers of some layers.
//!
//! One piece of work is some layers of a block. Layers differ by chance only, so a caller may ask for all of them or for a sample.

mod block;
mod chip;
mod order;
mod table;

pub use chip::Chip;
pub(super) use table::table;

use super::{JobError, Which, overrides, request, within};
use crate::histogram::{Histogram, Levels, whole};
use crate::states::{self, PageType, STATES};
use block::{Part, Seen};
use interpulse_flash::reprogram::{Bit, Coding};
use order::MOST_STEPS;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

request! {
    /// Some layers of a block under one scheme.
    struct Request {
        /// Layers of a super layer; 0 is the conventional program.
        super_layer: u32,
        /// Reprograms of each word line, by one state each; the conventional program has none.
        #[serde(default = "most")]
        steps: u8 = 0..=MOST_STEPS,
        /// The part's lowest layer.
        first_layer: u32,
        /// Layers of the part, a multiple of `super_layer` unless it ends with the block.
        layers: u32,
        /// Cells of a word line.
        cells: u32 = 64..=1 << 20,
        /// P/E cycles that the block has had.
        #[serde(default)]
        cycles: f64 = 0.0..=1e6,
        /// Take another chip of the same kind.
        #[serde(default)]
        other_chip: bool,
        /// Read all pages once more after each of these times since the program, in hours.
        #[serde(default)]
        hours: Vec<f64>,
        /// The temperature of those times, in degrees Celsius.
        #[serde(default = "room")]
        celsius: f64 = -40.0..=150.0,
        /// Hand back a histogram with bins of so many steps.
        histogram_bin: Option<u32>,
    }
}

fn room() -> f64 {
    25.0
}

fn most() -> u8 {
    MOST_STEPS
}

impl Request {
    /// How many states the word lines stand above ER to P3 in the end; none in the conventional program.
    fn often(&self) -> u8 {
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
    /// Of a reprogrammed word line, lower or upper.
    page_type: PageType,
    /// With the default read levels.
    errors_default: u64,
    /// With the levels that are best for the word line.
    errors_calibrated: u64,
}

fn chip(request: &Request) -> Result<Chip, JobError> {
    let chip = Chip::resolve(&request.preset, overrides(&request.set)?)?;
    within("super_layer", request.super_layer, 0..=chip.layers)?;
    within("first_layer", request.first_layer, 0..=chip.layers - 1)?;
    within("layers", request.layers, 1..=chip.layers - request.first_layer)?;
    within("hours, their number,", request.hours.len(), 0..=1000)?;
    for &hours in &request.hours {
        within("hours", hours, 0.0..=1e6)?;
    }
    if let Some(bin) = request.histogram_bin {
        within("histogram_bin", bin, 1..=100)?;
    }
    let height = request.super_layer.max(1);
    let ends = request.first_layer + request.layers == chip.layers;
    let whole = |n: u32| n.is_multiple_of(height);
    if !whole(request.first_layer) || !(whole(request.layers) || ends) {
        let text = format!("first_layer = {}, layers = {}", request.first_layer, request.layers);
        return Err(JobError(format!(
            "{text}: whole super layers of {height}, the last of the block excepted"
        )));
    }
    Ok(chip.aged(request.cycles, request.other_chip))
}

/// Layers of a block and word lines of a layer.
pub(super) fn block(request: &Value) -> Result<Value, JobError> {
    let which = Which::read("reprogram-block", request)?;
    let chip = Chip::resolve(&which.preset, overrides(&which.set)?)?;
    Ok(json!({ "layers": chip.layers, "word_lines": chip.word_lines }))
}

/// Programs some layers and reads every page with default and with calibrated levels; see [`Request`].
///
/// Returns pulses and number of the `first` programs of word lines and of those done `again`; `pages`, one object for each with its layer, word line, type and bit errors; `aged`, the same after each of `hours`;
/// and `histogram`, cells by state and voltage.
pub(super) fn run(request: &Value) -> Result<Value, JobError> {
    let request = Request::read("reprogram", request)?;
    let chip = chip(&request)?;
    let (height, layers, often) = (request.super_layer, request.layers, request.often());
    let (steps, states) = match height {
        0 => (order::conventional(layers, chip.word_lines), 0..8),
        _ => {
            let steps = order::reprogrammed(
                layers,
                chip.word_lines,
                height,
                often,
                request.seed,
                request.first_layer,
            );
            (steps, often..often + 4)
        }
    };
    let from = request.first_layer..request.first_layer + layers;
    let mut part = Part::erased(&chip, request.seed, from, request.cells as usize, states);
    let mut total = Histogram::default();
    part.program(&steps, |part, step| {
        if request.histogram_bin.is_some() && often > 0 && step.below == often {
            let (vth, data) = part.read_fresh(step.layer, step.word_line);
            total.add(&vth, &data.iter().map(|state| state - often).collect::<Vec<u8>>());
        }
    });
    let default = whole(&chip.cells.read.default);
    let lowest = (height > 0).then_some(often);
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

/// Bit errors of the pages of a word line: three of a TLC word line, two of one on four states from `lowest` on.
///
/// The four states mean what P4 to P7 do. Other histories have other bits, but the same boundaries of each page.
fn errors(seen: &Seen, default: &Levels, lowest: Option<u8>) -> Vec<Page> {
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

/// Cells by state in bins of `bin` steps, from the first that has any to the last: `from` is where the first one begins.
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
