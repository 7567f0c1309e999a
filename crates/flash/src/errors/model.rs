//! Error model: an error table compiled into integers, from which each sensing samples its errors.

use super::block_state::BlockState;
use super::fixed_log::{LogTables, ONE, fixed};
use super::sampler::{ErrorSample, ErrorSampler};
use super::spec::{ErrorSpec, InitialAges};
use crate::geometry::{BlockAddress, Geometry, PageAddress};
use crate::ids::WordLineId;
use interpulse_engine::random::mix;

/// Separates the random numbers of predictions from those of errors.
const PREDICTION: u64 = 0x7072_6564_6963_7400;

/// A point of an axis.
#[derive(Clone, Copy, Debug)]
struct Point {
    at: i64,
    /// Reciprocal of the distance to the next point: `ONE << 20` over the distance; 0 for the last point.
    per_step: i64,
}

/// The compiled table at the temperature and number of reprograms of the device.
#[derive(Clone, Debug)]
pub struct ErrorModel {
    logs: LogTables,
    counts: ErrorSampler,
    cycles: Box<[Point]>,
    /// ln of retention in ns at the temperature of the table.
    retention: Box<[Point]>,
    /// ln RBER by attempt, page type, layer, cycles, retention.
    ln_rber: Box<[i32]>,
    attempts: u32,
    page_types: u32,
    layers: u32,
    /// Layer class of each word line of a block, of all its sub-blocks.
    layer_of: Box<[u8]>,
    sub_blocks: u32,
    /// ln of the acceleration by temperature.
    ln_acceleration: i32,
    /// Standard deviation of ln RBER between pages, in steps of the fixed-point logarithm.
    spread: i32,
    disturb: Option<DisturbLogs>,
    codewords_per_unit: u32,
    seed: u64,
}

#[derive(Clone, Copy, Debug)]
struct DisturbLogs {
    /// ln of the coefficient per read of one page.
    ln_coefficient: i32,
    /// Exponents in 1/4096.
    cycles: i64,
    reads: i64,
}

/// A sensing of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Address of the page.
    pub address: PageAddress,
    /// Read attempt of the table.
    pub attempt: u32,
    /// Units of 4 KiB sensed.
    pub units: u32,
    /// Number of this sensing of the page.
    pub sensing: u64,
}

fn points(values: impl Iterator<Item = i64>) -> Box<[Point]> {
    let values: Vec<i64> = values.collect();
    let next = |k: usize| values.get(k + 1).map_or(0, |&n| (i64::from(ONE) << 20) / (n - values[k]).max(1));
    values.iter().enumerate().map(|(k, &at)| Point { at, per_step: next(k) }).collect()
}

/// The point at or below `x` and the weight of the next point in 1/4096; clamped to the axis.
#[inline]
fn locate(axis: &[Point], x: i64) -> (usize, i64) {
    let mut k = 0;
    while k + 1 < axis.len() && axis[k + 1].at <= x {
        k += 1;
    }
    let beyond = (x - axis[k].at).max(0);
    (k, ((beyond * axis[k].per_step) >> 20).min(i64::from(ONE)))
}

impl ErrorModel {
    /// Compiles the table of `spec` for an array; `seed` selects the variation between pages. Panics on an invalid table and
    /// on a wrong number of page types, both of which the configuration rejects.
    pub fn new(spec: &ErrorSpec, geometry: &Geometry, seed: u64) -> ErrorModel {
        let t = &spec.table;
        t.check().unwrap_or_else(|why| panic!("error table: {}: {}", why.key, why.legal));
        assert_eq!(t.page_types.len() as u32, geometry.pages_per_word_line, "page types of the error table");
        let (types, layers, attempts) = (t.page_types.len(), t.layer_fraction.len(), t.attempts.len());
        let mut ln_rber = Vec::with_capacity(t.entries());
        for attempt in 0..attempts {
            for page_type in 0..types {
                for layer in 0..layers {
                    for cycles in 0..t.cycles.len() {
                        let at = |r| t.ln_rber_at([cycles, r, layer, page_type, attempt], spec.reprograms);
                        ln_rber.extend((0..t.retention_h.len()).map(|r| fixed(at(r))));
                    }
                }
            }
        }
        let per_layer = geometry.word_lines.div_ceil(geometry.layers);
        let (sub_blocks, layers_of_all) = (geometry.sub_blocks, geometry.layers * geometry.sub_blocks);
        let class = |k: u32| {
            let (sub_block, word_line) = (k / geometry.word_lines, k % geometry.word_lines);
            let layer = sub_block * geometry.layers + word_line / per_layer;
            t.layer_class((f64::from(layer) + 0.5) / f64::from(layers_of_all)) as u8
        };
        let logs = LogTables::default();
        let disturb = t.disturb.map(|d| DisturbLogs {
            ln_coefficient: fixed(
                libm::log(d.coefficient)
                    - d.reads_exponent * libm::log(f64::from(geometry.pages_per_block() * sub_blocks)),
            ),
            cycles: i64::from(fixed(d.cycles_exponent)),
            reads: i64::from(fixed(d.reads_exponent)),
        });
        ErrorModel {
            counts: ErrorSampler::new(spec.ecc.codeword_bits),
            cycles: points(t.cycles.iter().map(|&c| i64::from(c))),
            retention: points(t.retention_h.iter().map(|h| i64::from(fixed(libm::log(h * 3.6e12))))),
            ln_rber: ln_rber.into(),
            attempts: attempts as u32,
            page_types: types as u32,
            layers: layers as u32,
            layer_of: (0..geometry.word_lines * sub_blocks).map(class).collect(),
            sub_blocks,
            ln_acceleration: fixed(libm::log(spec.acceleration())),
            spread: libm::round(t.spread_ln_sd * f64::from(ONE)) as i32,
            disturb,
            codewords_per_unit: (geometry.unit_bytes * 8) as u32 / spec.ecc.codeword_bits,
            logs,
            seed: mix(seed ^ 0x6572_726f_7273),
        }
    }

    /// Attempts of the table: default offsets, retry steps, calibrated offsets.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Codewords in a mapping unit.
    pub fn codewords_per_unit(&self) -> u32 {
        self.codewords_per_unit
    }

    /// Bits of a codeword.
    pub fn codeword_bits(&self) -> u32 {
        self.counts.bits()
    }

    /// ln RBER of a page of a block whose data is `age` ns old, in steps of 1/4096.
    #[inline]
    pub fn ln_rber(&self, state: &BlockState, extra_cycles: u32, age: u64, page: &Page) -> i32 {
        let number = page.address.page;
        let (word_line, page_type) = (WordLineId::of_page(number, self.page_types), number % self.page_types);
        let mut line = word_line.index();
        if self.sub_blocks > 1 {
            let sub_block = (page.address.of.block.0 % self.sub_blocks) as usize;
            line += sub_block * (self.layer_of.len() / self.sub_blocks as usize);
        }
        let layer = u32::from(self.layer_of[line]);
        let attempt = page.attempt.min(self.attempts - 1);
        let cycles = state.cycles.saturating_add(extra_cycles);
        let (c, towards_c) = locate(&self.cycles, i64::from(cycles));
        let (t, towards_t) =
            locate(&self.retention, i64::from(self.logs.ln(age.max(1)) + self.ln_acceleration));
        let rows = self.cycles.len();
        let row = ((attempt * self.page_types + page_type) * self.layers + layer) as usize * rows + c;
        let width = self.retention.len();
        let along = |row: usize| {
            let low = i64::from(self.ln_rber[row * width + t]);
            if towards_t == 0 {
                return low;
            }
            low + (((i64::from(self.ln_rber[row * width + t + 1]) - low) * towards_t) >> 12)
        };
        let mut ln = along(row);
        if towards_c > 0 {
            ln += ((along(row + 1) - ln) * towards_c) >> 12;
        }
        let mut ln = ln as i32;
        if let Some(d) = &self.disturb
            && state.reads > 0
            && cycles > 0
        {
            let by_cycles = (d.cycles * i64::from(self.logs.ln(u64::from(cycles)))) >> 12;
            let by_reads = (d.reads * i64::from(self.logs.ln(u64::from(state.reads)))) >> 12;
            ln = self.logs.sum(ln, d.ln_coefficient + (by_cycles + by_reads) as i32);
        }
        if self.spread > 0 {
            ln += self.spread * self.logs.normal(mix(self.seed ^ mix(key_of(page.address)))) / 1024;
        }
        ln
    }

    /// ln of the sum of two rates, each given by its ln.
    #[inline]
    pub fn sum(&self, ln: i32, other: i32) -> i32 {
        self.logs.sum(ln, other)
    }

    /// Samples the errors of a sensing at this rate.
    #[inline]
    pub fn draw(&self, ln_rber: i32, page: &Page) -> ErrorSample {
        self.counts.draw(ln_rber, self.key(page), page.units * self.codewords_per_unit)
    }

    /// Codewords of a sample with more errors than `capability`.
    pub fn uncorrectable(&self, drawn: &ErrorSample, page: &Page, capability: u32) -> u32 {
        let key = self.key(page);
        let codewords = page.units * self.codewords_per_unit;
        (0..codewords).filter(|&c| self.counts.errors_of(drawn, key, c) > capability).count() as u32
    }

    /// Random number of a prediction about a sensing.
    pub fn chance(&self, page: &Page) -> u64 {
        mix(self.key(page) ^ PREDICTION)
    }

    #[inline]
    fn key(&self, page: &Page) -> u64 {
        let attempt = u64::from(page.attempt) << 56;
        mix(self.seed.wrapping_add(key_of(page.address)) ^ mix(page.sensing ^ attempt))
    }

    /// Age of the data of a block at the start of a run, in ns.
    pub fn initial_age(&self, spec: &ErrorSpec, of: BlockAddress) -> u64 {
        let whole = spec.initial_age.as_ns();
        match spec.initial_ages {
            InitialAges::Equal => whole,
            // The state of the FTL has the order in which blocks were closed.
            InitialAges::Closed => 0,
            InitialAges::Uniform => {
                let number = mix(self.seed ^ mix(key_of(PageAddress { of, page: u32::MAX >> 12 })));
                ((u128::from(whole) * u128::from(number)) >> 64) as u64
            }
        }
    }
}

/// Key of a page, for at most 2^18 dies, 2^6 planes, 2^20 blocks and 2^20 pages.
#[inline]
fn key_of(PageAddress { of: BlockAddress { die, plane, block }, page }: PageAddress) -> u64 {
    u64::from(die.0) << 46 | u64::from(plane) << 40 | u64::from(block.0) << 20 | u64::from(page)
}
