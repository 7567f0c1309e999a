//! Tests of sampled errors: goodness of fit with fixed seeds and a family-wise error of 1e-6.

use interpulse_engine::random::mix;
use interpulse_engine::{Bytes, Duration};
use interpulse_flash::DieId;
use interpulse_flash::errors::block_state::BlockState;
use interpulse_flash::errors::fixed_log::fixed;
use interpulse_flash::errors::model::Page;
use interpulse_flash::errors::sampler::ErrorSampler;
use interpulse_flash::errors::{
    Conditions, Disturb, Ecc, ErrorModel, ErrorSpec, ErrorTable, InitialAges, PowerOff,
};
use interpulse_flash::geometry::{BlockAddress, Geometry, PageAddress};
use interpulse_flash::ids::BlockId;
use interpulse_flash::parts::{
    CacheRegister, CommandBus, EraseWear, PartSpec, PlaneAddress, ProgramMode, SubBlocks, SuspendSupport,
    TrainSpec,
};
use interpulse_oracle::stats::chi_square_critical;

const FAMILY_ERROR: f64 = 1e-6;
const COMPARISONS: usize = 12;

/// A block of the first plane of a die.
fn at(die: u32, block: u32) -> BlockAddress {
    BlockAddress { die: DieId(die), plane: 0, block: BlockId(block) }
}

/// Probabilities of 0, 1, ... errors in `bits` bits at `rate`.
fn binomial(bits: u32, rate: f64) -> Vec<f64> {
    let n = f64::from(bits);
    let ln = |k: f64| {
        libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
            + k * libm::log(rate)
            + (n - k) * libm::log1p(-rate)
    };
    let most = (n * rate + 12.0 * libm::sqrt(n * rate) + 12.0).min(n) as u32;
    (0..=most).map(|k| libm::exp(ln(f64::from(k)))).collect()
}

/// The largest of `m` independent numbers with these probabilities.
fn worst_of(probabilities: &[f64], m: i32) -> Vec<f64> {
    let (mut sum, mut below) = (0.0f64, 0.0);
    probabilities
        .iter()
        .map(|p| {
            sum = (sum + p).min(1.0);
            let up_to = sum.powi(m);
            let here = up_to - below;
            below = up_to;
            here
        })
        .collect()
}

/// Pearson's test of `counts` of 0, 1, ... against `probabilities`, in classes of at least 25 expected counts.
fn fits(what: &str, counts: &[u64], probabilities: &[f64]) {
    let total: u64 = counts.iter().sum();
    let mut classes: Vec<(f64, f64)> = vec![(0.0, 0.0)];
    for k in 0..counts.len().max(probabilities.len()) {
        let last = classes.last_mut().expect("there is a class");
        last.0 += counts.get(k).copied().unwrap_or(0) as f64;
        last.1 += probabilities.get(k).copied().unwrap_or(0.0) * total as f64;
        if last.1 >= 25.0 {
            classes.push((0.0, 0.0));
        }
    }
    let rest = classes.pop().expect("there is a class");
    let last = classes.last_mut().expect("there are enough samples");
    *last = (last.0 + rest.0, last.1 + rest.1);
    let statistic: f64 = classes.iter().map(|(o, e)| (o - e) * (o - e) / e).sum();
    let critical = chi_square_critical(classes.len(), FAMILY_ERROR, COMPARISONS).unwrap();
    assert!(statistic < critical, "{what}: {statistic} of at most {critical} in {} classes", classes.len());
}

fn tally(draws: impl Iterator<Item = u32>) -> Vec<u64> {
    let mut counts = Vec::new();
    for n in draws {
        if counts.len() <= n as usize {
            counts.resize(n as usize + 1, 0);
        }
        counts[n as usize] += 1;
    }
    counts
}

/// Single codewords, from almost no errors to a quarter of the bits, and the worst of several.
#[test]
fn errors_of_a_codeword_are_binomial() {
    const DRAWS: u64 = 200_000;
    for (bits, rate, codewords) in [
        (8192, 1e-5, 1),
        (8192, 1e-3, 1),
        (8192, 9.7e-3, 1),
        (1024, 0.25, 1),
        (8192, 5e-3, 4),
        (4096, 2e-3, 16),
    ] {
        let counts = ErrorSampler::new(bits);
        let ln = fixed(libm::log(rate));
        let drawn = tally((0..DRAWS).map(|k| counts.draw(ln, mix(k ^ 0x5eed), codewords).worst));
        let exact = worst_of(&binomial(bits, rate), codewords as i32);
        fits(&format!("{codewords} of {bits} bits at {rate}"), &drawn, &exact);
    }
}

fn part() -> PartSpec {
    let us = Duration::from_us;
    PartSpec {
        name: "statistics".into(),
        planes: 1,
        blocks_per_plane: 512,
        pages_per_block: 768,
        page_size: Bytes::kib(16),
        page_parity: Bytes(0),
        bits_per_cell: 3,
        layers: 64,
        cache: CacheRegister::NONE,
        power: Default::default(),
        program_mode: ProgramMode::OneShot,
        read: vec![us(60); 3],
        independent_plane_reads: false,
        plane_address: PlaneAddress::Any,
        sub_blocks: SubBlocks::ONE,
        buffer_setup: us(0),
        program: TrainSpec::even(4, us(35), us(0), us(90)),
        program_loops_sd: 0.0,
        erase: TrainSpec::even(3, us(1000), us(0), us(100)),
        erase_wear: EraseWear::Fixed,
        suspend_support: SuspendSupport::Nested,
        voltage_reset: us(0),
        program_suspend_entry: us(0),
        program_resume: us(0),
        page_buffer_reload: us(0),
        erase_suspend_entry: us(0),
        erase_resume: us(0),
        bus_rate: 1_000_000_000,
        command_bus: CommandBus::Shared,
        page_load: None,
        read_transfer: Default::default(),
        command_cycles: us(0),
        endurance: 1000,
        reprogram: None,
        slc_mode: None,
        two_step: None,
    }
}

fn spec(table: ErrorTable) -> ErrorSpec {
    ErrorSpec {
        temperature_c: table.temperature_c,
        table,
        ecc: Ecc { codeword_bits: 32_768, ..Ecc::default() },
        activation_ev: 1.1,
        reprograms: 0.0,
        initial_age: Duration::ZERO,
        initial_ages: InitialAges::Equal,
        initial_reads: 0,
        initial_off: PowerOff::default(),
        reclaim_reads: None,
        refresh_after: None,
    }
}

fn model(spec: &ErrorSpec) -> ErrorModel {
    ErrorModel::new(spec, &Geometry::new(1, 4, 1, &part()), 7)
}

/// Pages vary by a lognormal factor: counts over pages are a mixture of binomial distributions.
#[test]
fn errors_over_pages_are_binomial_mixed_over_their_spread() {
    let (rate, sd) = (1e-3, 0.4);
    let table = ErrorTable { rber: vec![rate; 3], spread_ln_sd: sd, ..ErrorTable::ideal(3) };
    let model = model(&spec(table));
    let pages = (0..4u32).flat_map(|d| {
        (0..512u32).flat_map(move |b| (0..96u32).map(move |p| PageAddress { of: at(d, b), page: 8 * p }))
    });
    let drawn = tally(pages.map(|address| {
        let page = Page { address, attempt: 0, units: 1, sensing: 1 };
        model.draw(model.ln_rber(&BlockState::default(), 0, 1, &page), &page).worst
    }));
    // The mixture by the midpoints of 400 equal parts of the mass of the normal distribution.
    let mut exact = vec![0.0; 400];
    let points: Vec<f64> = (0..1600).map(|k| -3.9975 + 7.995 * (f64::from(k) + 0.5) / 1600.0).collect();
    let weight = |z: f64| libm::exp(-z * z / 2.0);
    let all: f64 = points.iter().map(|&z| weight(z)).sum();
    for &z in &points {
        for (k, p) in binomial(32_768, rate * libm::exp(sd * z)).into_iter().enumerate().take(400) {
            exact[k] += p * weight(z) / all;
        }
    }
    fits("pages", &drawn, &exact);
}

/// Integer interpolation against the interpolation of the table.
#[test]
fn the_compiled_table_matches_the_table() {
    for name in ["cai-tlc", "tlc-3d"] {
        let mut table = interpulse_flash::errors::presets::table(name).unwrap();
        table.spread_ln_sd = 0.0;
        let spec = spec(table.clone());
        let model = model(&spec);
        for cycles in [0, 1, 150, 700, 1999, 2000, 5000] {
            for hours in [1e-3, 0.5, 2.0, 24.0, 100.0, 5000.0, 8760.0, 1e5] {
                for attempt in [0, 1, 3, 9] {
                    for page_number in [0, 1, 2, 766] {
                        let mut blocks = interpulse_flash::errors::block_state::BlockStates::new(1, 1, 1, 0);
                        blocks.set_history(at(0, 0), cycles, 0);
                        let page = Page {
                            address: PageAddress { of: at(0, 0), page: page_number },
                            attempt,
                            units: 1,
                            sensing: 0,
                        };
                        let age = (hours * 3.6e12) as u64;
                        let ln = model.ln_rber(blocks.get(at(0, 0)), 0, age, &page);
                        let ours = libm::exp(f64::from(ln) / 4096.0);
                        let page_type = (page_number % 3) as usize;
                        let theirs = table.rber(&Conditions {
                            cycles: f64::from(cycles),
                            hours,
                            reprograms: 0.0,
                            layer: 0.5,
                            page_type,
                            attempt: attempt as usize,
                        });
                        assert!(
                            (ours / theirs - 1.0).abs() < 0.01,
                            "{name}: {cycles} cycles, {hours} h, page {page_number}, attempt {attempt}: {ours} {theirs}"
                        );
                    }
                }
            }
        }
    }
}

/// Reads add errors by powers of cycles and of reads per page.
#[test]
fn read_disturb_depends_on_reads_per_page() {
    let disturb = Disturb { coefficient: 3.73e-9, cycles_exponent: 0.33, reads_exponent: 1.71 };
    let table = ErrorTable { rber: vec![1e-5; 3], disturb: Some(disturb), ..ErrorTable::ideal(3) };
    let model = model(&spec(table));
    let page = Page { address: PageAddress { of: at(1, 3), page: 5 }, attempt: 0, units: 1, sensing: 0 };
    for (cycles, reads) in [(1u32, 0u32), (1, 768_000), (1000, 76_800), (3000, 7_680_000)] {
        let mut blocks = interpulse_flash::errors::block_state::BlockStates::new(1, 1, 1, 0);
        blocks.set_history(at(0, 0), cycles, 0);
        blocks.get_mut(at(0, 0)).reads = reads;
        let ours = libm::exp(f64::from(model.ln_rber(blocks.get(at(0, 0)), 0, 1, &page)) / 4096.0);
        let per_page = f64::from(reads) / 768.0;
        let exact = 1e-5 + 3.73e-9 * libm::pow(f64::from(cycles), 0.33) * libm::pow(per_page, 1.71);
        assert!((ours / exact - 1.0).abs() < 0.02, "{cycles} cycles, {reads} reads: {ours} against {exact}");
    }
}

/// Acceleration by the Arrhenius factor.
#[test]
fn temperature_accelerates_ageing() {
    let mut warm = spec(interpulse_flash::errors::presets::table("cai-tlc").unwrap());
    warm.temperature_c = 70.0;
    let factor = warm.acceleration();
    assert!((factor / 35.0 - 1.0).abs() < 0.02);
    let (cool, warm) = (model(&spec(warm.table.clone())), model(&warm));
    let page = Page { address: PageAddress { of: at(0, 0), page: 2 }, attempt: 0, units: 1, sensing: 0 };
    let week = 168 * 3_600_000_000_000u64;
    let (a, b) = (
        cool.ln_rber(&BlockState::default(), 2000, (week as f64 * factor) as u64, &page),
        warm.ln_rber(&BlockState::default(), 2000, week, &page),
    );
    assert!((a - b).abs() < 10, "{a} {b}");
}

#[test]
fn written_tables_read_back_equal() {
    let full = ErrorTable {
        title: "a \"quoted\" title\nof two lines".into(),
        source: "C:\\measured".into(),
        temperature_c: 25.5,
        cycles: vec![0, 1500],
        retention_h: vec![0.1, 1.0 / 3.0, 1e4],
        reprograms: vec![0, 1],
        layer_fraction: vec![0.0, 0.123_456_789, 1.0],
        rber: (0..72).map(|k| 0.5 / f64::from(k + 1)).collect(),
        attempts: vec!["default".into(), "calibrated".into()],
        page_types: vec!["lsb".into()],
        spread_ln_sd: 0.1 + 0.2,
        disturb: Some(Disturb { coefficient: 3.73e-9, cycles_exponent: 0.33, reads_exponent: 1.71 }),
    };
    assert_eq!(full.check(), Ok(()));
    for table in [full, ErrorTable::ideal(3), interpulse_flash::errors::presets::table("tlc-3d").unwrap()] {
        let text = table.to_toml();
        assert_eq!(ErrorTable::from_toml(&text, "written").unwrap(), table, "{text}");
    }
}
