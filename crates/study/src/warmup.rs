//! How a drive comes to work before its measurement window begins.
//!
//! A preconditioned drive is at rest: its cache is empty, and no lane collects garbage. Where neither `run.warmup` nor
//! `run.warmup-requests` is given, the
//! load itself takes it from there to work, until what the drive has in hand changes no more; a trace, whose rows are not
//! to be spent, is preceded by a synthetic flow of its mean rate, mix and sizes.

use crate::config::Case;
use crate::simulated::{Simulated, ftl_of};
use interpulse_array::config::ArraySpec;
use interpulse_drive::drive::Drive;
use interpulse_drive::ftl::FtlCounters;
use interpulse_drive::spec::DriveSpec;
use interpulse_engine::{Bytes, Duration, SimTime};
use interpulse_host::{Clock, Failure, Observer, Pause, Stepper};
use interpulse_workload::{
    Arrivals, BlockSize, FlowSpec, Source, SyntheticPacing, SyntheticSpec, TracePacing, TraceSummary,
};

/// Requests between two looks at first.
const EVERY: u64 = 64;
/// Looks that are compared: the last two quarters of so many.
const LOOKS: usize = 64;
/// Requests that a warm-up takes at most, or twice as many as are measured, if that is more.
const MOST: u64 = 1_000_000;
/// What the drive has in hand differs between quarters by less than this share of what it can have.
const ALIKE: f64 = 0.05;
/// A load under which no more of the lanes collect is one that collection keeps up with.
const FEW: f64 = 0.1;
/// Write amplification that the time for a block of each lane is reckoned with.
const AMPLIFIED: f64 = 4.0;
/// Of the time of all dies a synthetic flow before a trace asks for no more than this share.
const BUSY: f64 = 0.5;
/// Between the end of the synthetic flow and the first row of the trace, for the one to complete.
const PAUSE: Duration = Duration::from_ms(50);

/// What happens before the window.
#[derive(Clone, Debug, PartialEq)]
pub enum Warmup {
    /// The load runs for this time: it was asked for.
    Given(Duration),
    /// The load runs until so many requests have completed: they were asked for.
    GivenRequests(u64),
    /// The load runs until the drive is at work.
    UntilSteady {
        /// For this time at least.
        least: Duration,
        /// Its rate is its own, so that collection may keep up with it.
        open: bool,
    },
    /// A synthetic flow runs for so long, and the traces start after it.
    Before(Box<FlowSpec>, Duration),
    /// Nothing, because of this.
    Nothing(&'static str),
}

/// How it went.
#[derive(Clone, Debug, PartialEq)]
pub struct Warmed {
    /// What was done: the name in results.
    pub by: &'static str,
    /// Requests completed before the window.
    pub requests: u64,
    /// How long it took.
    pub simulated: Duration,
    /// Why it was not enough, or was not done.
    pub why: Option<&'static str>,
}

impl Warmup {
    /// What a case asks for, or what is best for it. `traces` are the first readings of its traces, in order.
    pub fn of(case: &Case, traces: &[TraceSummary]) -> Warmup {
        if let Some(time) = case.run.warmup {
            return Warmup::Given(time);
        }
        if let Some(requests) = case.run.warmup_requests {
            return Warmup::GivenRequests(requests);
        }
        // Rows of a trace are counted from its first one on, whatever came before it.
        let ends = |f: &FlowSpec| {
            f.start > SimTime::ZERO
                || f.stop.is_some()
                || (f.limit.is_some() && !matches!(f.source, Source::Trace(_)))
                || matches!(f.source, Source::Twin(_))
        };
        if case.drive.power_loss.is_some() || case.array.as_ref().is_some_and(ArraySpec::has_events) {
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
        let synthetic = case.flows.iter().filter(|f| matches!(f.source, Source::Synthetic(_))).count();
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

    /// The flows of the run, those of the case first.
    pub fn flows(&self, case: &Case) -> Vec<FlowSpec> {
        let mut flows = case.flows.clone();
        if let Warmup::Before(flow, time) = self {
            flows.iter_mut().for_each(|f| f.start = f.start + *time);
            flows.push(FlowSpec::clone(flow));
        }
        flows
    }

    /// Takes an open stepper to the beginning of its window. `measured` is how many requests that asks for; `go_on` is told the
    /// requests completed now and then. `None` if it said no.
    pub fn run<D: Simulated, O: Observer, C: Clock>(
        &self,
        stepper: &mut Stepper<D, O, C>,
        measured: Option<u64>,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<Warmed>, Failure> {
        let (by, why, least) = match self {
            Warmup::Given(time) => ("given", None, *time),
            Warmup::GivenRequests(_) => ("given", None, Duration::ZERO),
            Warmup::UntilSteady { least, .. } => ("load", None, *least),
            Warmup::Before(_, time) => ("synthetic", None, *time),
            Warmup::Nothing(why) => ("none", Some(*why), Duration::ZERO),
        };
        let mut warmed = Warmed { by, requests: 0, simulated: Duration::ZERO, why };
        if let Warmup::UntilSteady { least, open } = self {
            let most = measured.unwrap_or(0).saturating_mul(2).max(MOST);
            match until_steady(stepper, *least, *open, most, go_on)? {
                End::Stopped => return Ok(None),
                End::Steady => {}
                End::GivenUp => warmed.why = Some("the drive still changed when it was given up"),
            }
        } else if let Warmup::GivenRequests(requests) = self {
            let end = stepper.agenda.horizon();
            if stepper.run(end, *requests, &mut |s| go_on(s.host.device.completed()))? == Pause::Stopped {
                return Ok(None);
            }
        } else if least > Duration::ZERO {
            let end = SimTime::ZERO + least;
            if stepper.run(end, u64::MAX, &mut |s| go_on(s.host.device.completed()))? == Pause::Stopped {
                return Ok(None);
            }
            stepper.agenda.advance_to(end);
        }
        warmed.requests = stepper.host.device.completed();
        warmed.simulated = stepper.agenda.now().since(SimTime::ZERO);
        Ok(Some(warmed))
    }
}

/// About the time in which a saturated drive writes one block of each lane, with what collection moves for it.
fn a_block_of_each_lane(drive: &DriveSpec) -> Duration {
    let Ok(tables) = drive.layout() else { return Duration::ZERO };
    let program = f64::from(drive.part.program.loops) * drive.part.program.loop_time().as_ns() as f64;
    let programs = f64::from(tables.programs_per_block) * f64::from(tables.lanes_per_die);
    Duration((programs * program * AMPLIFIED) as u64)
}

/// A flow of the mean rate, mix and sizes of all traces together, of their queue.
fn before_traces(case: &Case, traces: &[TraceSummary]) -> Option<FlowSpec> {
    let (mut rate, mut reads, mut writes) = (0.0, 0u64, 0u64);
    let (mut bytes, mut depth) = (0u64, 0);
    let of_traces = case.flows.iter().filter_map(|f| match &f.source {
        Source::Trace(trace) => Some((f, trace)),
        Source::Synthetic(_) | Source::Twin(_) => None,
    });
    for ((_, trace), found) in of_traces.clone().zip(traces) {
        match trace.pacing {
            TracePacing::Recorded { speed } => {
                rate += found.rows as f64 / (found.span.as_ns() as f64 / 1e9 / speed).max(1e-3);
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
    Some(FlowSpec { queue: flow.queue, ..FlowSpec::synthetic("before the trace", synthetic) })
}

/// Requests a second that keep the dies of a drive busy for the share [`BUSY`] of their time.
fn most_requests(drive: &DriveSpec, write_share: f64, size: u64) -> f64 {
    let Ok(layout) = drive.layout() else { return 1.0 };
    let units = size as f64 / drive.geometry.unit_bytes as f64;
    let train = &drive.part.program;
    let program = f64::from(train.loops) * train.loop_time().as_ns() as f64 * AMPLIFIED;
    let read = drive.part.read.iter().map(|t| t.as_ns()).max().unwrap_or(0) as f64;
    let each =
        units * (write_share * program / f64::from(layout.units_per_program) + (1.0 - write_share) * read);
    BUSY * f64::from(drive.geometry.dies()) * 1e9 / each.max(1.0)
}

/// How [`until_steady`] ended.
enum End {
    Steady,
    GivenUp,
    Stopped,
}

/// What the drives have in hand, and what they have done.
struct Look {
    /// Share of the lanes that collect garbage.
    collecting: f64,
    /// Share of the cache that is taken.
    cached: f64,
    outstanding: f64,
    done: FtlCounters,
}

impl Look {
    fn at<D: Simulated>(device: &D) -> Look {
        let (mut lanes, mut collecting, mut slots, mut cached) = (0u32, 0u32, 0.0, 0.0);
        for drive in device.drives() {
            lanes += drive.layout().lanes;
            collecting += drive.collecting_lanes();
            let cache = drive.cache();
            let taken = f64::from(cache.dirty_total() + cache.in_flight());
            cached += taken;
            slots += taken + cache.free() as f64;
        }
        Look {
            collecting: f64::from(collecting) / f64::from(lanes.max(1)),
            cached: cached / f64::max(slots, 1.0),
            outstanding: device.outstanding() as f64,
            done: ftl_of(device),
        }
    }
}

/// Steps until `least` has passed, every lane has been given a block (or collection keeps up with a load that does not wait
/// for it), and what the
/// drives have in hand is alike in the last two quarters of the time; until `most` requests at the latest.
fn until_steady<D: Simulated, O: Observer, C: Clock>(
    stepper: &mut Stepper<D, O, C>,
    least: Duration,
    open: bool,
    most: u64,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<End, Failure> {
    let collects = |device: &D| device.drives().iter().any(|d| d.collects());
    let blocks = |device: &D| -> u64 {
        let of = |drive: &Drive| {
            let layout = drive.layout();
            u64::from(layout.lanes) * u64::from(layout.units_per_block)
        };
        device.drives().iter().map(of).sum()
    };
    let cycle = if collects(&stepper.host.device) { blocks(&stepper.host.device) } else { 0 };
    let least = SimTime::ZERO + if cycle > 0 { least } else { Duration::ZERO };
    let (mut every, mut looks) = (EVERY, Vec::<Look>::new());
    loop {
        let target = stepper.host.device.completed() + every;
        match stepper.run(stepper.agenda.horizon(), target, &mut |s| go_on(s.host.device.completed()))? {
            Pause::Stopped => return Ok(End::Stopped),
            // There is no load any more.
            Pause::Done | Pause::Limit => return Ok(End::GivenUp),
            Pause::Target => {}
        }
        looks.push(Look::at(&stepper.host.device));
        if looks.len() < LOOKS {
            continue;
        }
        if !go_on(stepper.host.device.completed()) {
            return Ok(End::Stopped);
        }
        let written = looks[LOOKS - 1].done.host_units;
        let late = mean(&looks[LOOKS / 2..], |l| l.collecting);
        let writes = written > looks[0].done.host_units;
        let turned = !writes || written >= cycle || (open && late < FEW && stepper.agenda.now() >= least);
        if turned && alike(&looks[LOOKS / 2..]) {
            return Ok(End::Steady);
        }
        if stepper.host.device.completed() >= most {
            return Ok(End::GivenUp);
        }
        let mut k = 0;
        looks.retain(|_| {
            k += 1;
            k % 2 == 0
        });
        every *= 2;
    }
}

fn mean(looks: &[Look], of: impl Fn(&Look) -> f64) -> f64 {
    looks.iter().map(of).sum::<f64>() / looks.len() as f64
}

/// Whether both halves have the same in hand.
fn alike(looks: &[Look]) -> bool {
    let (a, b) = looks.split_at(looks.len() / 2);
    let apart = |of: &dyn Fn(&Look) -> f64| {
        // Few lanes come and go in steps; what chance makes of that is no difference.
        let variance = |half: &[Look]| mean(half, |l| of(l).powi(2)) - mean(half, of).powi(2);
        let chance = ((variance(a) + variance(b)).max(0.0) / a.len() as f64).sqrt();
        (mean(a, of) - mean(b, of)).abs() - 2.0 * chance
    };
    let queue = mean(looks, |l| l.outstanding);
    apart(&|l| l.collecting) <= ALIKE
        && apart(&|l| l.cached) <= ALIKE
        && apart(&|l| l.outstanding) <= 2.0 * ALIKE * queue + 1.0
        && amplify_alike(&b[0].done.since(&a[0].done), &b[b.len() - 1].done.since(&b[0].done))
}

/// Whether write amplification is the same but for what chance makes of so many victims.
fn amplify_alike(a: &FtlCounters, b: &FtlCounters) -> bool {
    let (Some(first), Some(second)) = (a.write_amplification(), b.write_amplification()) else { return true };
    let chance = 2.0 / (a.gc_runs.min(b.gc_runs).max(1) as f64).sqrt();
    (first - second).abs() <= ALIKE.max(chance) * first.max(second)
}
