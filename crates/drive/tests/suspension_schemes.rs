//! Suspension schemes in whole drives: nothing is faster for reads than `ideal`, and `none` is no suspension.

use crate::drive_common::{Bench, little, mix, preconditioned};
use interpulse_drive::spec::DriveSpec;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::suspend::{Preemptors, Scheme, SuspendCosts, SuspendPolicy, Timeout};
use interpulse_oracle::stats;
use interpulse_workload::{Arrivals, FlowSpec, SyntheticPacing, SyntheticSpec};

const SEEDS: u64 = 10;
const FAMILY_ERROR: f64 = 1e-6;
const END: SimTime = SimTime(250_000_000);

/// A little drive that collects garbage, with dear suspensions of programs and erases, a ramp and a reload.
fn with(scheme: Scheme) -> DriveSpec {
    let mut spec = little();
    let us = Duration::from_us;
    let scheme = match scheme {
        Scheme::Timeout(of) => Scheme::Timeout(Timeout { after: us(500), ..of }),
        other => other,
    };
    let policy = |entry, resume| SuspendPolicy {
        resume_ramp: us(5),
        preemptors: Preemptors { host_reads: true, gc_reads: false, host_writes: false },
        ..SuspendPolicy::unlimited(
            scheme,
            SuspendCosts { entry: us(entry), resume: us(resume), reset: us(4) },
        )
    };
    spec.nand.program_suspend = policy(20, 10);
    spec.nand.erase_suspend = policy(40, 30);
    spec
}

/// Reads that do not hit the cache beside writes, both at rates of their own.
fn flows() -> [FlowSpec; 2] {
    let open = |name, rate_per_s, read_share| {
        let pacing = SyntheticPacing::Open { rate_per_s, arrivals: Arrivals::Poisson };
        FlowSpec::synthetic(name, SyntheticSpec { pacing, ..mix(read_share) })
    };
    [open("reader", 12_000.0, 1.0), open("writer", 5_000.0, 0.0)]
}

/// The mean read latency in microseconds, and the suspensions of the kind that has fewer, of a run.
fn run(spec: &DriveSpec, seed: u64) -> (f64, u64) {
    let mut bench = Bench::new(spec, preconditioned(spec, 1.0, 1.0, 1), &flows(), seed);
    bench.run_to(END);
    let read = &bench.host.window.flows[0].read;
    assert!(read.count() > 1_000);
    let c = bench.host.device.nand().counters;
    assert!(c.erases > 10, "no garbage is collected");
    (read.sum_ns() as f64 / read.count() as f64 / 1e3, c.program_suspends.min(c.erase_suspends))
}

/// At equal open-loop arrivals, seed by seed, no scheme has a mean read latency below that of `ideal` beyond the
/// confidence interval of the difference; the schemes that pay for their stops have one above it.
#[test]
fn ideal_is_the_bound_on_drives() {
    let ideal: Vec<(f64, u64)> = (0..SEEDS).map(|seed| run(&with(Scheme::Ideal), seed)).collect();
    assert!(ideal.iter().all(|&(_, suspends)| suspends > 3), "{ideal:?}");
    for (name, scheme, _) in Scheme::all().into_iter().filter(|(_, scheme, _)| *scheme != Scheme::Ideal) {
        let more: Vec<f64> =
            ideal.iter().zip(0..).map(|(&(ideal, _), seed)| run(&with(scheme), seed).0 - ideal).collect();
        let interval = stats::confidence_interval(&more, FAMILY_ERROR, Scheme::ROWS.len()).unwrap();
        println!("{name}: {interval:?} us above ideal");
        assert!(interval.high >= 0.0, "{name} is faster than ideal: {interval:?}");
        assert!(interval.mean > 0.0, "{name}: {interval:?}");
    }
}

/// The same counters and latencies as a drive that cannot suspend, whatever the policies say besides.
#[test]
fn none_is_a_drive_without_suspension() {
    let mut never = with(Scheme::None);
    never.nand.program_suspend = SuspendPolicy::NEVER;
    never.nand.erase_suspend = SuspendPolicy::NEVER;
    for seed in 0..3 {
        let result = |spec: &DriveSpec| {
            let mut bench = Bench::new(spec, preconditioned(spec, 1.0, 1.0, 1), &flows(), seed);
            bench.run_to(END);
            let window = bench.host.end_window(END);
            let nand: Vec<u64> = bench.host.device.nand().counters.iter().map(|(_, value)| value).collect();
            let latencies = window
                .flows
                .iter()
                .map(|f| (crate::drive_common::content(&f.read), crate::drive_common::content(&f.write)));
            (latencies.collect::<Vec<_>>(), nand)
        };
        assert_eq!(result(&with(Scheme::None)), result(&never), "seed {seed}");
    }
}
