//! Warm-up: brings a drive to steady operation before the measurement window.
//!
//! A preconditioned drive is idle: its cache is empty and no lane collects garbage. Without `run.warmup` and
//! `run.warmup-requests` the load runs until cache, queue and collection stop changing. A trace, whose rows must not
//! be consumed, is preceded by a synthetic flow of its mean rate, mix and sizes.

use crate::config::Case;
use crate::run_target::{RunTarget, ftl_counters_of};
use interpulse_array::config::ArraySpec;
use interpulse_drive::Drive;
use interpulse_drive::DriveSpec;
use interpulse_drive::FtlCounters;
use interpulse_engine::{Bytes, Duration, SimTime};
use interpulse_host::{Clock, Failure, Observer, Pause, Stepper};
use interpulse_workload::{
    Arrivals, BlockSize, FlowSpec, Source, SyntheticPacing, SyntheticSpec, TracePacing, TraceSummary,
};

/// Requests between two samples at first.
const FIRST_INTERVAL: u64 = 64;
/// Samples per test: the last two quarters are compared.
const SAMPLES: usize = 64;
/// Most requests of a warm-up, or twice the measured ones if that is more.
const MAX_REQUESTS: u64 = 1_000_000;
/// Largest difference between the quarters, as a share of lanes or of the cache.
const TOLERANCE: f64 = 0.05;
/// Collection keeps up with an open load if at most this share of the lanes collects.
const FEW_LANES: f64 = 0.1;
/// Write amplification assumed for the time to write one block of each lane.
const ASSUMED_WAF: f64 = 4.0;
/// Largest die utilisation of the synthetic flow before a trace.
const MAX_UTILISATION: f64 = 0.5;
/// Time between the synthetic flow and the trace, in which requests complete.
const PAUSE: Duration = Duration::from_ms(50);

/// Warm-up method.
#[derive(Clone, Debug, PartialEq)]
pub enum Warmup {
    /// The load runs for this time (`run.warmup`).
    Given(Duration),
    /// The load runs until so many requests complete (`run.warmup-requests`).
    GivenRequests(u64),
    /// The load runs until the drive is steady.
    UntilSteady {
        /// Shortest time.
        least: Duration,
        /// Open load: collection may keep up with it.
        open: bool,
    },
    /// A synthetic flow runs for this time; the traces start after it.
    Before(Box<FlowSpec>, Duration),
    /// No warm-up, with the reason.
    Nothing(&'static str),
}

/// Outcome of a warm-up.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmupOutcome {
    /// Method, as named in results.
    pub by: &'static str,
    /// Requests completed before the window.
    pub requests: u64,
    /// Simulated time.
    pub simulated: Duration,
    /// Why it was skipped or did not suffice.
    pub why: Option<&'static str>,
}

impl Warmup {
    /// The method that a case requests, or else the best one. `traces` are the first readings of its traces, in
    /// order.
    pub fn of(case: &Case, traces: &[TraceSummary]) -> Warmup {
        if let Some(time) = case.run.warmup {
            return Warmup::Given(time);
        }
        if let Some(requests) = case.run.warmup_requests {
            return Warmup::GivenRequests(requests);
        }
        // A trace ends after a number of rows, which the warm-up does not consume.
        let ends = |f: &FlowSpec| {
            f.start > SimTime::ZERO
                || f.stop.is_some()
                || (f.limit.is_some() && !matches!(f.source, Source::Trace(_)))
                || matches!(f.source, Source::Twin(_))
        };
        let faults = !case.drive.schedule.is_empty() || !case.drive.formats.is_empty();
        if faults || case.drive.power_loss.is_some() || case.array.as_ref().is_some_and(ArraySpec::has_events)
        {
            return Warmup::Nothing("what happens to the drives is given by the time since the start");
        }
        if case.drive.nand.errors.as_ref().is_some_and(|errors| errors.initial_age > Duration::ZERO) {
            return Warmup::Nothing(
                "data is as old as errors.initial-age says at the start, and a load renews it",
            );
        }
        if case.flows.iter().any(ends) {
            return Warmup::Nothing("flows begin or end at given times or after so many requests");
        }
        let least = a_block_of_each_lane(&case.drive);
        let synthetic =
            case.flows.iter().filter(|f| matches!(f.source, Source::Synthetic(_) | Source::Zones(_))).count();
        if synthetic == case.flows.len() {
            return Warmup::UntilSteady { least, open: !case.flows.iter().any(FlowSpec::is_closed) };
        }
        match before_traces(case, traces) {
            Some(flow) if least > Duration::ZERO => {
                let flow = FlowSpec { stop: Some(SimTime::ZERO + least), ..flow };
                Warmup::Before(Box::new(flow), least + PAUSE)
            }
            _ => Warmup::Nothing("the traces have no rate to go by"),
        }
    }

    /// Flows of the run: those of the case come first.
    pub fn flows(&self, case: &Case) -> Vec<FlowSpec> {
        let mut flows = case.flows.clone();
        if let Warmup::Before(flow, time) = self {
            flows.iter_mut().for_each(|f| f.start = f.start + *time);
            flows.push(FlowSpec::clone(flow));
        }
        flows
    }

    /// Runs an open stepper to the start of its window. `measured` is the number of requests to measure; `go_on`
    /// gets the completed requests and returns false to stop, which gives `None`.
    pub fn run<D: RunTarget, O: Observer, C: Clock>(
        &self,
        stepper: &mut Stepper<D, O, C>,
        measured: Option<u64>,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<WarmupOutcome>, Failure> {
        let (by, why, least) = match self {
            Warmup::Given(time) => ("given", None, *time),
            Warmup::GivenRequests(_) => ("given", None, Duration::ZERO),
            Warmup::UntilSteady { least, .. } => ("load", None, *least),
            Warmup::Before(_, time) => ("synthetic", None, *time),
            Warmup::Nothing(why) => ("none", Some(*why), Duration::ZERO),
        };
        let mut warmed = WarmupOutcome { by, requests: 0, simulated: Duration::ZERO, why };
        if let Warmup::UntilSteady { least, open } = self {
            let most = measured.unwrap_or(0).saturating_mul(2).max(MAX_REQUESTS);
            match until_steady(stepper, *least, *open, most, go_on)? {
                End::Stopped => return Ok(None),
                End::Steady => {}
                End::LimitReached => {
                    warmed.why =
                        Some("the warm-up reached its limit of requests while the drive still changed")
                }
            }
        } else if let Warmup::GivenRequests(requests) = self {
            let end = stepper.events.horizon();
            if stepper.run(end, *requests, &mut |s| go_on(s.host.device.completed()))? == Pause::Stopped {
                return Ok(None);
            }
        } else if least > Duration::ZERO {
            let end = SimTime::ZERO + least;
            if stepper.run(end, u64::MAX, &mut |s| go_on(s.host.device.completed()))? == Pause::Stopped {
                return Ok(None);
            }
            stepper.events.advance_to(end);
        }
        warmed.requests = stepper.host.device.completed();
        warmed.simulated = stepper.events.now().since(SimTime::ZERO);
        Ok(Some(warmed))
    }
}

/// Approximate time in which a saturated drive writes one block of each lane, with the collection that this causes.
fn a_block_of_each_lane(drive: &DriveSpec) -> Duration {
    let Ok(tables) = drive.layout() else { return Duration::ZERO };
    let program = f64::from(drive.part.program.loops) * drive.part.program.loop_time().as_ns() as f64;
    let programs = f64::from(tables.programs_per_block) * f64::from(tables.lanes_per_die);
    Duration((programs * program * ASSUMED_WAF) as u64)
}

/// A flow with the mean rate, mix, sizes and depth of all traces.
fn before_traces(case: &Case, traces: &[TraceSummary]) -> Option<FlowSpec> {
    let (mut rate, mut reads, mut writes) = (0.0, 0u64, 0u64);
    let (mut bytes, mut depth) = (0u64, 0);
    let of_traces = case.flows.iter().filter_map(|f| match &f.source {
        Source::Trace(trace) => Some((f, trace)),
        Source::Synthetic(_) | Source::Zones(_) | Source::Twin(_) => None,
    });
    for ((_, trace), found) in of_traces.clone().zip(traces) {
        match trace.pacing {
            TracePacing::Recorded { speed } => {
                rate +=
                    (found.reads + found.writes) as f64 / (found.span.as_ns() as f64 / 1e9 / speed).max(1e-3);
            }
            TracePacing::Closed { depth: of } => depth += of,
        }
        reads += found.reads;
        writes += found.writes;
        bytes += found.read_bytes.get() + found.written_bytes.get();
    }
    let requests = reads + writes;
    let (flow, _) = of_traces.clone().next()?;
    if requests == 0 {
        return None;
    }
    let unit = case.drive.geometry.unit_bytes;
    let size = (bytes / requests).next_multiple_of(unit).clamp(unit, 1 << 20);
    let write_share = writes as f64 / requests as f64;
    let pacing = match depth {
        0 => {
            let most = most_requests(&case.drive, write_share, size) * f64::from(case.drives());
            SyntheticPacing::Open { rate_per_s: rate.clamp(1e-3, most), arrivals: Arrivals::Poisson }
        }
        depth => SyntheticPacing::Closed { depth: depth.min(65535) },
    };
    let synthetic = SyntheticSpec {
        pacing,
        read_share: 1.0 - write_share,
        write_share,
        block_size: BlockSize::Fixed(Bytes(size)),
        to: case.precondition.fill.max(0.01),
        ..SyntheticSpec::default()
    };
    Some(FlowSpec {
        queue: flow.queue,
        namespace: flow.namespace,
        handle: flow.handle,
        ..FlowSpec::synthetic("before the trace", synthetic)
    })
}

/// Requests per second at a die utilisation of [`MAX_UTILISATION`].
fn most_requests(drive: &DriveSpec, write_share: f64, size: u64) -> f64 {
    let Ok(layout) = drive.layout() else { return 1.0 };
    let units = size as f64 / drive.geometry.unit_bytes as f64;
    let train = &drive.part.program;
    let program = f64::from(train.loops) * train.loop_time().as_ns() as f64 * ASSUMED_WAF;
    let read = drive.part.read.iter().map(|t| t.as_ns()).max().unwrap_or(0) as f64;
    let each =
        units * (write_share * program / f64::from(layout.units_per_program) + (1.0 - write_share) * read);
    MAX_UTILISATION * f64::from(drive.geometry.dies()) * 1e9 / each.max(1.0)
}

/// How [`until_steady`] ended.
enum End {
    Steady,
    LimitReached,
    Stopped,
}

/// State of the drives at one instant, with cumulative counters.
struct Sample {
    /// Share of lanes that collect garbage.
    collecting: f64,
    /// Share of the cache in use.
    cached: f64,
    outstanding: f64,
    done: FtlCounters,
}

impl Sample {
    fn at<D: RunTarget>(device: &D) -> Sample {
        let (mut lanes, mut collecting, mut slots, mut cached) = (0u32, 0u32, 0.0, 0.0);
        for drive in device.drives() {
            lanes += drive.lanes();
            collecting += drive.collecting_lanes();
            let used = f64::from(drive.cache_used());
            cached += used;
            slots += used + drive.cache_free() as f64;
        }
        Sample {
            collecting: f64::from(collecting) / f64::from(lanes.max(1)),
            cached: cached / f64::max(slots, 1.0),
            outstanding: device.outstanding() as f64,
            done: ftl_counters_of(device),
        }
    }
}

/// Runs until `least` has passed, each lane has received a block (or collection keeps up with an open load) and the
/// last two quarters agree; at most until `most` requests.
fn until_steady<D: RunTarget, O: Observer, C: Clock>(
    stepper: &mut Stepper<D, O, C>,
    least: Duration,
    open: bool,
    most: u64,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<End, Failure> {
    let drives = stepper.host.device.drives();
    let collects = drives.iter().any(Drive::collects_garbage);
    let cycle = if collects { drives.iter().map(Drive::cycle_units).sum() } else { 0 };
    let least = SimTime::ZERO + if cycle > 0 { least } else { Duration::ZERO };
    let (mut every, mut samples) = (FIRST_INTERVAL, Vec::<Sample>::new());
    loop {
        let target = stepper.host.device.completed() + every;
        match stepper.run(stepper.events.horizon(), target, &mut |s| go_on(s.host.device.completed()))? {
            Pause::Stopped => return Ok(End::Stopped),
            // The load has ended.
            Pause::Done | Pause::Limit | Pause::Woken => return Ok(End::LimitReached),
            Pause::Target => {}
        }
        samples.push(Sample::at(&stepper.host.device));
        if samples.len() < SAMPLES {
            continue;
        }
        if !go_on(stepper.host.device.completed()) {
            return Ok(End::Stopped);
        }
        let written = samples[SAMPLES - 1].done.host_units;
        let late = mean(&samples[SAMPLES / 2..], |l| l.collecting);
        let writes = written > samples[0].done.host_units;
        let turned =
            !writes || written >= cycle || (open && late < FEW_LANES && stepper.events.now() >= least);
        if turned && is_steady(&samples[SAMPLES / 2..]) {
            return Ok(End::Steady);
        }
        if stepper.host.device.completed() >= most {
            return Ok(End::LimitReached);
        }
        let mut k = 0;
        samples.retain(|_| {
            k += 1;
            k % 2 == 0
        });
        every *= 2;
    }
}

fn mean(samples: &[Sample], of: impl Fn(&Sample) -> f64) -> f64 {
    samples.iter().map(of).sum::<f64>() / samples.len() as f64
}

/// Whether both halves agree.
fn is_steady(samples: &[Sample]) -> bool {
    let (a, b) = samples.split_at(samples.len() / 2);
    let apart = |of: &dyn Fn(&Sample) -> f64| {
        // With few lanes the share moves in steps; subtract that noise.
        let variance = |half: &[Sample]| mean(half, |l| of(l).powi(2)) - mean(half, of).powi(2);
        let chance = ((variance(a) + variance(b)).max(0.0) / a.len() as f64).sqrt();
        (mean(a, of) - mean(b, of)).abs() - 2.0 * chance
    };
    let queue = mean(samples, |l| l.outstanding);
    apart(&|l| l.collecting) <= TOLERANCE
        && apart(&|l| l.cached) <= TOLERANCE
        && apart(&|l| l.outstanding) <= 2.0 * TOLERANCE * queue + 1.0
        && same_amplification(&b[0].done.since(&a[0].done), &b[b.len() - 1].done.since(&b[0].done))
}

/// Whether write amplification agrees within the sampling error of the number of victims.
fn same_amplification(a: &FtlCounters, b: &FtlCounters) -> bool {
    let (Some(first), Some(second)) = (a.write_amplification(), b.write_amplification()) else { return true };
    let chance = 2.0 / (a.gc_runs.min(b.gc_runs).max(1) as f64).sqrt();
    (first - second).abs() <= TOLERANCE.max(chance) * first.max(second)
}
