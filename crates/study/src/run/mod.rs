//! One run: warm-up, measurement window, drain, audits.

pub mod batches;
pub mod power;
mod refusals;
pub mod warm_up;

use crate::config::RunSpec;
use crate::record::Recording;
use crate::run::batches::{Batch, Batches};
use crate::run::warm_up::{Warmup, WarmupOutcome};
use crate::run_target::{DeviceCounters, DriveLoad, RunTarget};
use interpulse_drive::DriveCounters;
use interpulse_drive::ftl::log_block::counters::LogBlockCounters;
use interpulse_drive::ftl::zoned::counters::ZoneCounters;
use interpulse_drive::ftl::{Ftl, LogBlockFtl, Namespace, ZonedFtl};
use interpulse_drive::{Drive, PlacementCounters, Rewritten, SpareSeen};
use interpulse_drive::{FtlCounters, SlcCounters};
use interpulse_engine::{AuditReport, Duration, SimTime};
use interpulse_flash::command::DIE_ACTIVITIES;
use interpulse_flash::nand::power::tally::Spent;
use interpulse_flash::nand::{
    ErrorCounters, MOST_ATTEMPTS_COUNTED, NandCounters, OperationStats, Reliability,
};
use interpulse_host::{Clock, Failure, Host, Observer, Pause, Stepper, Window};
use std::time::Instant;
use thiserror::Error;

/// Units that the final audit confirms.
const CONFIRMED_UNITS: usize = 4 << 20;

/// Failure of a run.
#[derive(Debug, Error)]
pub enum RunFailure {
    /// User error: an unreadable trace, or a window without completions.
    #[error("{0}")]
    User(String),
    /// Bug: requests that never complete, or a failed audit.
    #[error("{0}")]
    Internal(String),
}

impl From<Failure> for RunFailure {
    fn from(failure: Failure) -> RunFailure {
        match failure {
            Failure::User(why) => RunFailure::User(why),
            Failure::Stuck(why) => RunFailure::Internal(why),
            Failure::NoCompletion { outstanding, since } => RunFailure::User(format!(
                "the drive is busy without end: {outstanding} outstanding requests, and none completed during the last {:.0} s of \
                 simulated time. Collection takes as many blocks as it erases; give it more ftl.over-provisioning, another \
                 ftl.gc or, with ftl.mapping = \"cached\", an ftl.map-write-batch of at least one program",
                since.as_ns() as f64 / 1e9
            )),
        }
    }
}

/// Bit errors, retries and rewritten blocks in the window.
pub struct ErrorWindow {
    /// Counters of the flash array.
    pub counters: ErrorCounters,
    /// Page reads by number of further attempts; the last entry counts all larger numbers too.
    pub by_attempts: [u64; MOST_ATTEMPTS_COUNTED + 1],
    /// Blocks rewritten.
    pub rewritten: Rewritten,
}

/// Counters of a namespace in the window.
pub struct NamespaceCounters {
    /// FTL counters.
    pub ftl: FtlCounters,
}

/// Measurements of a run; all values cover the window unless stated.
pub struct Measured {
    /// Start of the window.
    pub start: SimTime,
    /// Length of the window.
    pub simulated: Duration,
    /// Host latencies, time accounts and counters.
    pub window: Window,
    /// Counters of host interfaces and caches of all drives.
    pub drive: DriveCounters,
    /// FTL counters.
    pub ftl: FtlCounters,
    /// Counters of SLC caches.
    pub slc: SlcCounters,
    /// Counters of zones, of a zoned drive.
    pub zones: Option<ZoneCounters>,
    /// Counters of log blocks, of a drive with log blocks.
    pub log_blocks: Option<LogBlockCounters>,
    /// Look-ups of map entries and hits of each queue; empty with the full table or one queue.
    pub map_lookups: Vec<[u64; 2]>,
    /// Counters of each namespace; empty without namespaces.
    pub namespaces: Vec<NamespaceCounters>,
    /// Spare space at the victim choices of garbage collection.
    pub spare: SpareSeen,
    /// Counters of placement handles; `None` without them.
    pub placement: Option<PlacementCounters>,
    /// Flash counters.
    pub nand: NandCounters,
    /// Programs and erases that ended in the window.
    pub operations: OperationStats,
    /// Time of all dies by use, in ns; the sum is dies x window.
    pub uses: [u64; DIE_ACTIVITIES],
    /// Time by use of each die, drive by drive; drives added during the run are left out.
    pub dies: Vec<[u64; DIE_ACTIVITIES]>,
    /// Time in ns that each channel moved commands or data, drive by drive; drives added during the run are left out.
    pub channels: Vec<u64>,
    /// Time that each bus for commands was taken, in ns; empty where commands move over the channels.
    pub command_buses: Vec<u64>,
    /// Time in ns that the codewords of reads took in each decoder, as `channels`.
    pub decoders: Vec<u64>,
    /// Counters of host interface and caches of each drive, as `dies`.
    pub each_drive: Vec<DriveCounters>,
    /// Load on each drive of an array; empty of a drive on its own.
    pub loads: Vec<DriveLoad>,
    /// Bit errors, if an error table is configured.
    pub errors: Option<ErrorWindow>,
    /// Energy and power of the flash array.
    pub power: power::Measured,
    /// Audited energy of the flash array, in nJ.
    pub energy_nj: u64,
    /// Audit coverage; `None` if the run was stopped early.
    pub audits: Option<AuditReport>,
    /// Warm-up; `None` if the run was stopped before the window.
    pub warmed: Option<WarmupOutcome>,
    /// Mean number of blocks per lane that the host wrote; `None` without writes or garbage collection.
    pub lane_blocks: Option<f64>,
    /// Batches of the window.
    pub batches: Vec<Batch>,
    /// The run was stopped early.
    pub interrupted: bool,
    /// Wall time of the run, in s.
    pub wall_s: f64,
    /// CPU time of the thread, in s.
    pub cpu_s: f64,
    /// CPU time of the window, in s.
    pub window_cpu_s: f64,
}

/// Stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Warm-up: no measurement.
    WarmUp,
    /// The measurement window.
    Window,
}

/// Requests between two progress reports; batches are shorter at the start of a window.
const WATCHED: u64 = 1 << 14;

/// Opens a stepper and runs warm-up and window. `progress` gets completed requests and simulated time of the window
/// every 64 Ki events and returns false to stop early.
pub fn run<D: RunTarget, O: Recording, C: Clock>(
    stepper: &mut Stepper<D, O, C>,
    spec: &RunSpec,
    warmup: &Warmup,
    progress: &mut dyn FnMut(Stage, u64, Duration) -> bool,
) -> Result<Measured, RunFailure> {
    let (wall, cpu) = (Instant::now(), thread_cpu_s());
    let horizon = stepper.events.horizon();
    let given = spec.warmup.map_or(0, Duration::as_ns);
    let asked = given.saturating_add(spec.time.map_or(0, Duration::as_ns));
    if asked > horizon.as_ns() {
        return Err(RunFailure::User(format!(
            "run.warmup and run.time together are longer than the {horizon} that a drive of this size can simulate"
        )));
    }
    stepper.open()?;
    let warmed = warmup
        .run(stepper, spec.requests, &mut |requests| progress(Stage::WarmUp, requests, Duration::ZERO))?;
    let mut interrupted = warmed.is_none();
    let window_cpu = thread_cpu_s();
    let start = stepper.events.now();
    let device = &mut stepper.host.device;
    let before = Readings::take(device, start);
    device.drives_mut().iter_mut().for_each(|drive| drive.nand_mut().restart_power(start));
    let first = device.completed();
    stepper.host.begin_window();
    let Host { device, observer, .. } = &mut stepper.host;
    observer.window_begins(device, start);
    let target = spec.requests.map_or(u64::MAX, |n| first.saturating_add(n));
    let limit = spec.time.map_or(horizon, |time| start + time);
    let mut batches = Batches::begin(&mut stepper.host, start);
    let mut reported = first;
    let pause = loop {
        if interrupted {
            break Pause::Stopped;
        }
        let next = batches.next().min(target);
        let mut go_on = |s: &Stepper<D, O, C>| {
            progress(Stage::Window, s.host.device.completed() - first, s.events.now().since(start))
        };
        let sample_at = stepper.host.observer.next_sample();
        let pause = stepper.run(limit.min(sample_at), next, &mut go_on)?;
        let done = stepper.host.device.completed();
        if done >= reported + WATCHED {
            reported = done;
            refusals::check(&stepper.host.window).map_err(RunFailure::User)?;
            if !go_on(stepper) {
                break Pause::Stopped;
            }
        }
        if pause == Pause::Limit && sample_at < limit {
            // All earlier events are done, even if the run stops here.
            stepper.events.advance_to(sample_at);
            let Host { device, observer, .. } = &mut stepper.host;
            observer.sample(device, sample_at);
            if observer.is_done() {
                break Pause::Stopped;
            }
            continue;
        }
        if pause != Pause::Target {
            break pause;
        }
        if done >= batches.next() {
            let now = stepper.events.now();
            batches.sample(&mut stepper.host, now);
        }
        if done >= target {
            break pause;
        }
    };
    if spec.time.is_some() && pause == Pause::Limit {
        stepper.events.advance_to(limit);
    }
    interrupted |= pause == Pause::Stopped;
    let end = stepper.events.now();
    let Host { device, observer, .. } = &mut stepper.host;
    observer.window_ends(device, end);
    let after = Readings::take(device, end);
    let power = match device.drives_mut() {
        [drive] => power::Measured::take(drive.nand_mut(), end, &before.spent),
        // Arrays have neither power trace nor power budget.
        _ => power::Measured { spent: after.spent.since(&before.spent), reading: None, waits: None },
    };
    let done = after.done.since(&before.done);
    let mut operations = OperationStats::default();
    let mut drive_counters = after.drive.since(&before.drive);
    for drive in device.drives() {
        operations.merge(&drive.nand().operations);
        drive_counters.add(&drive.overdue(end));
    }
    let window = stepper.host.end_window(end);
    let window_cpu_s = thread_cpu_s() - window_cpu;
    let audits = if interrupted { None } else { Some(finish(stepper)?) };
    let simulated = end.since(start);
    let drives = stepper.host.device.drives();
    let dies = drives.iter().map(|drive| drive.spec().geometry.dies()).sum();
    let energy_nj = power.audit(&drives[0].spec().part.power, dies, simulated).map_err(audit_failure)?;
    if !interrupted && window.counters.requests == 0 {
        return Err(RunFailure::User(format!(
            "no request completed in the {simulated} that were measured: give run.requests or run.time more, or the \
             flows an earlier start"
        )));
    }
    Ok(Measured {
        start,
        simulated,
        window,
        drive: drive_counters,
        ftl: done.ftl,
        slc: done.slc,
        map_lookups: after
            .map_lookups
            .iter()
            .zip(&before.map_lookups)
            .map(|(after, before)| [after[0] - before[0], after[1] - before[1]])
            .collect(),
        namespaces: after
            .namespaces
            .iter()
            .zip(&before.namespaces)
            .map(|(after, before)| NamespaceCounters { ftl: after.ftl.since(&before.ftl) })
            .collect(),
        zones: after.zones.zip(before.zones).map(|(after, before)| after.since(&before)),
        log_blocks: after.log_blocks.zip(before.log_blocks).map(|(after, before)| after.since(&before)),
        spare: done.spare,
        placement: after.placement.zip(before.placement).map(|(after, before)| after.since(&before)),
        nand: done.nand,
        operations,
        power,
        energy_nj,
        uses: done.uses,
        dies: after
            .dies
            .iter()
            .zip(&before.dies)
            .map(|(a, b)| std::array::from_fn(|i| a[i] - b[i]))
            .collect(),
        channels: after.channels.iter().zip(&before.channels).map(|(a, b)| a - b).collect(),
        command_buses: after.command_buses.iter().zip(&before.command_buses).map(|(a, b)| a - b).collect(),
        decoders: after.decoders.iter().zip(&before.decoders).map(|(a, b)| a - b).collect(),
        each_drive: after.each_drive.iter().zip(&before.each_drive).map(|(a, b)| a.since(b)).collect(),
        loads: stepper.host.device.loads(),
        errors: after.errors.zip(before.errors).map(|(after, before)| after.since(&before)),
        audits,
        lane_blocks: lane_blocks(stepper.host.device.drives(), done.ftl.host_units),
        warmed,
        batches: batches.all(),
        interrupted,
        wall_s: wall.elapsed().as_secs_f64(),
        cpu_s: thread_cpu_s() - cpu,
        window_cpu_s,
    })
}

/// Drains outstanding requests, then audits.
fn finish<D: RunTarget, O: Observer, C: Clock>(
    stepper: &mut Stepper<D, O, C>,
) -> Result<AuditReport, RunFailure> {
    stepper.close()?;
    let (device, now) = (&mut stepper.host.device, stepper.events.now());
    let units = |drive: &Drive| drive.logical_units() as usize;
    let entries: usize = device.drives().iter().map(units).sum();
    let audit = device.audit(now, entries.div_ceil(CONFIRMED_UNITS)).map_err(audit_failure)?;
    for drive in device.drives_mut() {
        let part = drive.spec().part.power.clone();
        power::audit_meter(drive.nand_mut(), &part, now).map_err(audit_failure)?;
    }
    Ok(audit)
}

/// Number of blocks per lane that hold `units`.
fn lane_blocks(drives: &[Drive], units: u64) -> Option<f64> {
    let band: u64 = drives.iter().filter(|drive| drive.collects_garbage()).map(Drive::band_units).sum();
    (units > 0 && band > 0).then(|| units as f64 / band as f64)
}

fn audit_failure(why: String) -> RunFailure {
    RunFailure::Internal(format!("an audit does not hold: {why}"))
}

/// Cumulative counters at one instant.
struct Readings {
    done: DeviceCounters,
    drive: DriveCounters,
    dies: Vec<[u64; DIE_ACTIVITIES]>,
    channels: Vec<u64>,
    command_buses: Vec<u64>,
    decoders: Vec<u64>,
    each_drive: Vec<DriveCounters>,
    errors: Option<ErrorWindow>,
    placement: Option<PlacementCounters>,
    zones: Option<ZoneCounters>,
    log_blocks: Option<LogBlockCounters>,
    map_lookups: Vec<[u64; 2]>,
    namespaces: Vec<NamespaceCounters>,
    spent: Spent,
}

impl Readings {
    fn take<D: RunTarget>(of: &mut D, now: SimTime) -> Readings {
        let mut readings = Readings {
            done: DeviceCounters::read(of, now),
            drive: DriveCounters::default(),
            dies: Vec::new(),
            channels: Vec::new(),
            command_buses: Vec::new(),
            decoders: Vec::new(),
            each_drive: Vec::new(),
            errors: None,
            placement: None,
            zones: None,
            log_blocks: None,
            map_lookups: Vec::new(),
            namespaces: Vec::new(),
            spent: Spent::default(),
        };
        for drive in of.drives_mut() {
            readings.dies.extend(drive.nand().dies().iter().map(|die| die.usage.uses()));
            readings.channels.extend(drive.nand().channels().iter().map(|channel| channel.busy_ns));
            readings.command_buses.extend(drive.nand().command_buses().iter().map(|bus| bus.busy_ns));
            readings.decoders.extend(drive.nand().decoders().iter().map(|decoder| decoder.busy_ns(now)));
            drive.count_windows(now);
            readings.drive.add(&drive.counters);
            readings.each_drive.push(drive.counters);
            // Only a drive on its own has handles.
            readings.placement = drive.placement().cloned();
            // The commands of an array come from one queue.
            readings.map_lookups = drive.map_lookups_by_queue().to_vec();
            // An array has no zoned drives, and no namespaces.
            readings.zones = zone_counters(drive);
            // Nor drives with log blocks.
            readings.log_blocks = drive.log_block().map(LogBlockFtl::log_counters);
            let each = drive.namespaces().map_or(&[][..], |of| of.all());
            readings.namespaces =
                each.iter().map(|of| NamespaceCounters { ftl: of.family().counters() }).collect();
            readings.spent.add(&drive.nand_mut().spent(now));
            if let Some(reliability) = drive.nand().reliability() {
                let of = ErrorWindow::of(reliability, drive.rewritten());
                match &mut readings.errors {
                    Some(sum) => sum.add(&of),
                    none => *none = Some(of),
                }
            }
        }
        readings
    }
}

/// Counters of zones, of all zoned namespaces together; `None` without zones.
pub fn zone_counters(drive: &Drive) -> Option<ZoneCounters> {
    let several = drive.namespaces().filter(|of| !of.is_one_namespace());
    let of_namespaces = several.into_iter().flat_map(|of| of.all()).filter_map(Namespace::zoned);
    let each = drive.zoned().into_iter().chain(of_namespaces).map(ZonedFtl::zone_counters);
    each.reduce(|mut sum, of| {
        sum.add(&of);
        sum
    })
}

impl ErrorWindow {
    fn of(reliability: &Reliability, rewritten: Rewritten) -> ErrorWindow {
        ErrorWindow { counters: reliability.counters, by_attempts: reliability.by_attempts, rewritten }
    }

    fn add(&mut self, other: &ErrorWindow) {
        self.counters.add(&other.counters);
        for (to, from) in self.by_attempts.iter_mut().zip(other.by_attempts) {
            *to += from;
        }
        self.rewritten.add(&other.rewritten);
    }

    fn since(self, before: &ErrorWindow) -> ErrorWindow {
        ErrorWindow {
            counters: self.counters.since(&before.counters),
            by_attempts: std::array::from_fn(|k| self.by_attempts[k] - before.by_attempts[k]),
            rewritten: self.rewritten.since(&before.rewritten),
        }
    }
}

/// CPU time of this thread in seconds.
pub fn thread_cpu_s() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut t) };
    if failed != 0 {
        return 0.0;
    }
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}
