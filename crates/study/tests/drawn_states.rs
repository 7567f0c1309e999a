//! Validation of sampled uniform overwrites: the first window on states whose blocks are sampled against states
//! whose logical units are generated and looked up. Compares write amplification, throughput and latencies.
//!
//! Each seed of workload and preconditioning gives one value per figure; Welch's interval of the difference must
//! contain zero. All comparisons together fail by chance with probability 1e-6.

use interpulse_drive::PreconditionedState;
use interpulse_drive::Preconditioner;
use interpulse_drive::numbers::Lpn;
use interpulse_engine::{Device, LatencyHistogram, Streams};
use interpulse_host::Pause;
use interpulse_oracle::stats::{mean, student_t_quantile, variance};
use interpulse_study::case;
use interpulse_study::config::{Case, PlanRequest, read_cases};
use interpulse_study::initial_state::precondition::precondition;
use interpulse_study::run::warm_up::Warmup;

const FAMILY_ERROR: f64 = 1e-6;
const SEEDS: u64 = 16;
const REQUESTS: u64 = 50_000;
/// Overwritten capacities: enough for a steady write amplification.
const WRITES: f64 = 1.5;

const DRIVE: &str = "config_version = 1\ndrive = \"a4-mini\"\n[precondition]\noverwrite = \"uniform\"\nuntil = \
                     \"drive-writes\"\ndrive-writes = 1.5\n[run]\nrequests = 1\n";
const PLANES: &str = "[part]\nplanes = 2\nblocks-per-plane = 48\n[ftl]\nmulti-plane = 2\n";
const STRIPED: &str = "[ftl]\nallocation = \"cwdp\"\n";

/// Name, drive, load.
const LOADS: [(&str, &str, &str); 5] = [
    ("light", "", "[[flow]]\nread = 0.75\npacing = \"open\"\nrate = \"20kIOPS\"\n"),
    ("saturating", "", "[[flow]]\nread = 0.75\ndepth = 64\n"),
    ("two planes", PLANES, "[[flow]]\nread = 0.6\ndepth = 16\n"),
    ("striped", STRIPED, "[[flow]]\nread = 0.6\ndepth = 16\n"),
    ("large reads", "", "[[flow]]\naddress = \"sequential\"\nblock-size = \"128KiB\"\ndepth = 4\n"),
];
const FIGURES: [&str; 5] =
    ["write amplification", "requests/s", "read latency, us", "read p99, us", "write latency, us"];

/// State of looked-up overwrites.
fn looked_up(case: &Case) -> PreconditionedState {
    let streams = Streams::new(case.precondition.seed);
    let mut ftl = case.drive.fresh_ftl(streams.stream("precondition.gc", 0)).unwrap();
    let logical = ftl.map().logical_units();
    let mut p = Preconditioner::new(&mut ftl, case.drive.stripe().unwrap()).working_ahead();
    p.write_in_order(Lpn(0), Lpn(logical));
    let mut rng = streams.stream("looked-up", 0);
    p.overwrite((f64::from(logical) * WRITES) as u64, || Lpn(rng.below(u64::from(logical)) as u32));
    p.finish();
    PreconditionedState::Page(ftl)
}

/// Figures of the first window.
fn window(drive: &str, load: &str, seed: u64, drawn: bool) -> [f64; FIGURES.len()] {
    let text = format!("{DRIVE}{drive}{load}");
    let instance = 1000 * u64::from(drawn) + seed;
    let sets = vec![("precondition.seed".into(), instance.to_string())];
    let request =
        PlanRequest { text, path: "drawn".into(), sets, seed: Some(instance), ..PlanRequest::default() };
    let case = read_cases(&request).unwrap().remove(0);
    let state = if drawn {
        precondition(&case.drive, &case.precondition, &mut |_, _| true).unwrap().0
    } else {
        looked_up(&case)
    };
    let warmup = Warmup::of(&case, &[]);
    let mut stepper = case::drive(&case, &warmup.flows(&case), state).unwrap();
    stepper.open().unwrap();
    warmup.run(&mut stepper, Some(REQUESTS), &mut |_| true).unwrap().unwrap();
    let (before, start) = (stepper.host.device.ftl_counters(), stepper.events.now());
    stepper.host.begin_window();
    let (horizon, target) = (stepper.events.horizon(), stepper.host.device.completed() + REQUESTS);
    assert_eq!(stepper.run(horizon, target, &mut |_| true), Ok(Pause::Target));
    let done = stepper.host.device.ftl_counters().since(&before);
    let seconds = stepper.events.now().since(start).as_ns() as f64 / 1e9;
    let window = stepper.host.end_window(stepper.events.now());
    let flow = &window.flows[0];
    let mean = |h: &LatencyHistogram| h.mean_ns().unwrap_or(0.0) / 1e3;
    let p99 = flow.read.percentile(0.99).map_or(0.0, |d| d.as_ns() as f64 / 1e3);
    [
        done.write_amplification().unwrap_or(1.0),
        REQUESTS as f64 / seconds,
        mean(&flow.read),
        p99,
        mean(&flow.write),
    ]
}

#[test]
fn runs_on_drawn_states_are_like_those_on_states_looked_up() {
    let comparisons = (LOADS.len() * FIGURES.len()) as f64;
    for (name, drive, load) in LOADS {
        let [looked_up, drawn] = [false, true].map(|drawn| {
            std::thread::scope(|scope| {
                let of = move |seeds: std::ops::Range<u64>| {
                    seeds.map(|seed| window(drive, load, seed, drawn)).collect::<Vec<_>>()
                };
                let other = scope.spawn(move || of(SEEDS / 2..SEEDS));
                let mut all = of(0..SEEDS / 2);
                all.extend(other.join().unwrap());
                all
            })
        });
        for (k, figure) in FIGURES.iter().enumerate() {
            let of = |all: &[[f64; FIGURES.len()]]| all.iter().map(|f| f[k]).collect::<Vec<f64>>();
            let (a, b) = (of(&looked_up), of(&drawn));
            let (va, vb) = (variance(&a).unwrap() / SEEDS as f64, variance(&b).unwrap() / SEEDS as f64);
            let freedom = (va + vb).powi(2) * (SEEDS - 1) as f64 / (va * va + vb * vb).max(f64::MIN_POSITIVE);
            let t = |error: f64| -student_t_quantile(0.5 * error, (freedom as u32).max(2)).unwrap();
            let (a, b, sigma) = (mean(&a).unwrap(), mean(&b).unwrap(), (va + vb).sqrt());
            println!(
                "| {name} | {figure} | {a:.4} | {b:.4} | {:+.2} % | {:.2} % |",
                100.0 * (b - a) / a.max(f64::MIN_POSITIVE),
                100.0 * t(0.05) * sigma / a.max(f64::MIN_POSITIVE)
            );
            let most = t(FAMILY_ERROR / comparisons) * sigma;
            assert!((a - b).abs() <= most, "{name}: {figure} {a} looked up, {b} drawn, chance makes {most}");
            assert!(most <= 0.25 * a, "{name}: {figure}: +-{most} of {a} says too little");
        }
    }
}
