//! Validation of the warm-up: the first window after the default warm-up against the two windows that follow, over
//! drives, loads and seeds. Compares write amplification, free pages and latencies.
//!
//! Each seed of workload and preconditioning gives one relative difference; the confidence interval over seeds must
//! contain zero. All comparisons together fail by chance with probability 1e-6.

use interpulse_drive::Drive;
use interpulse_drive::FtlCounters;
use interpulse_engine::Device;
use interpulse_host::{Pause, Stepper};
use interpulse_oracle::stats::{Interval, confidence_interval};
use interpulse_study::case;
use interpulse_study::config::{PlanRequest, read_cases};
use interpulse_study::initial_state::precondition::precondition;
use interpulse_study::run::warm_up::Warmup;

const FAMILY_ERROR: f64 = 1e-6;
const COMPARISONS: usize = 4 * LOADS.len() + 1;
const SEEDS: u64 = 12;
/// Windows compared with the first.
const LATER: usize = 2;
/// Samples of free pages per window.
const LOOKS: u64 = 20;

const DRIVE: &str =
    "config_version = 1\ndrive = \"a4-mini\"\n[precondition]\noverwrite = \"uniform\"\n[run]\nrequests = 1\n";
const TIGHT: &str = "[ftl]\nover-provisioning = 0.12\n";
const PLANES: &str = "[part]\nplanes = 2\nblocks-per-plane = 48\n[ftl]\nmulti-plane = 2\n";

/// Name, drive, load, requests of a window.
const LOADS: [(&str, &str, &str, u64); 5] = [
    ("light", "", "[[flow]]\nread = 0.75\npacing = \"open\"\nrate = \"20kIOPS\"\n", 100_000),
    ("saturating", "", "[[flow]]\nread = 0.75\ndepth = 64\n", 100_000),
    ("little spare", TIGHT, "[[flow]]\nread = 0.5\npacing = \"open\"\nrate = \"5kIOPS\"\n", 80_000),
    ("two planes", PLANES, "[[flow]]\nread = 0.6\ndepth = 16\n", 150_000),
    ("reads", "", "[[flow]]\ndepth = 16\n", 60_000),
];

/// Figures of one window: write amplification, mean free pages, mean read latency, mean write latency.
type Figures = [f64; 4];

/// The first window and the mean of the later ones.
fn windows(drive: &str, load: &str, requests: u64, seed: u64, warm: bool) -> (Figures, Figures) {
    let text = format!("{DRIVE}{drive}{load}");
    let sets = vec![("precondition.seed".into(), (100 + seed).to_string())];
    let request =
        PlanRequest { text, path: "steady".into(), sets, seed: Some(seed), ..PlanRequest::default() };
    let case = read_cases(&request).unwrap().remove(0);
    let (state, outcome) = precondition(&case.drive, &case.precondition, &mut |_, _| true).unwrap();
    assert!(!outcome.gave_up);
    let warmup = if warm { Warmup::of(&case, &[]) } else { Warmup::Nothing("to see what it is for") };
    let mut stepper = case::drive(&case, &warmup.flows(&case), state).unwrap();
    stepper.open().unwrap();
    let warmed = warmup.run(&mut stepper, Some(requests), &mut |_| true).unwrap().unwrap();
    assert!(!warm || warmed.why.is_none(), "{load}: {warmed:?}");
    let first = window(&mut stepper, requests);
    let mut later = [0.0; 4];
    for _ in 0..LATER {
        let figures = window(&mut stepper, requests);
        later.iter_mut().zip(figures).for_each(|(sum, f)| *sum += f / LATER as f64);
    }
    (first, later)
}

fn window(stepper: &mut Stepper<Drive>, requests: u64) -> Figures {
    let ftl = |s: &Stepper<Drive>| -> FtlCounters { s.host.device.ftl_counters() };
    let before = ftl(stepper);
    stepper.host.begin_window();
    let mut free = 0.0;
    for _ in 0..LOOKS {
        let target = stepper.host.device.completed() + requests / LOOKS;
        let horizon = stepper.events.horizon();
        assert_eq!(stepper.run(horizon, target, &mut |_| true), Ok(Pause::Target));
        free += stepper.host.device.free_pages() as f64 / LOOKS as f64;
    }
    let done = ftl(stepper).since(&before);
    let window = stepper.host.end_window(stepper.events.now());
    let mean = |h: &interpulse_engine::LatencyHistogram| h.mean_ns().unwrap_or(0.0);
    let flow = &window.flows[0];
    [done.write_amplification().unwrap_or(1.0), free, mean(&flow.read), mean(&flow.write)]
}

/// Results of `run` for each seed, in order, on two threads.
fn over_seeds<T: Send>(run: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let half = |seeds: std::ops::Range<u64>| seeds.map(&run).collect::<Vec<T>>();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(SEEDS / 2..SEEDS));
        let mut all = half(0..SEEDS / 2);
        all.extend(other.join().unwrap());
        all
    })
}

/// Relative difference of figure `k` between the first window and the later ones, over seeds.
fn difference(runs: &[(Figures, Figures)], k: usize) -> Interval {
    let of =
        |(first, later): &(Figures, Figures)| if later[k] == 0.0 { 0.0 } else { first[k] / later[k] - 1.0 };
    let all: Vec<f64> = runs.iter().map(of).collect();
    if all.iter().all(|&d| d == 0.0) {
        // Reads alone program nothing.
        return Interval { mean: 0.0, low: 0.0, high: 0.0 };
    }
    confidence_interval(&all, FAMILY_ERROR, COMPARISONS).unwrap()
}

#[test]
fn the_first_window_is_like_those_that_follow() {
    for (name, drive, load, requests) in LOADS {
        let runs = over_seeds(|seed| windows(drive, load, requests, seed, true));
        for (k, figure) in
            ["write amplification", "free pages", "read latency", "write latency"].iter().enumerate()
        {
            let off = difference(&runs, k);
            println!("{name}: {figure} of the first window off by {off:?}");
            assert!(off.contains(0.0), "{name}: {figure} of the first window is off by {off:?}");
            assert!(off.half_width() < 0.2, "{name}: {figure}: {off:?} says too little");
        }
    }
}

#[test]
fn without_a_warm_up_it_would_not_be() {
    let (_, drive, load, _) = LOADS[1];
    let runs = over_seeds(|seed| windows(drive, load, 20_000, seed, false));
    let off = difference(&runs, 0);
    assert!(off.high < 0.0, "collection has not begun: {off:?}");
}
