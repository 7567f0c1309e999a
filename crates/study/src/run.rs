//! One run: warm-up, measurement window, drain, audits.

use crate::batches::{Batch, Batches};
use crate::config::RunSpec;
use crate::power;
use crate::record::Recording;
use crate::simulated::{Done, Simulated};
use crate::warmup::{Warmed, Warmup};
use interpulse_drive::drive::counters::DriveCounters;
use interpulse_drive::drive::{Drive, Rewritten};
use interpulse_drive::ftl::FtlCounters;
use interpulse_engine::{AuditReport, Duration, SimTime};
use interpulse_flash::command::USES;
use interpulse_flash::nand::power::tally::Spent;
use interpulse_flash::nand::{
    ErrorCounters, MOST_ATTEMPTS_COUNTED, NandCounters, OperationStats, Reliability,
};
use interpulse_host::{Clock, Failure, Host, Observer, Pause, Stepper, Window};
use std::time::Instant;
use thiserror::Error;

/// Units confirmed by the audit at the end.
const CONFIRMED_UNITS: usize = 4 << 20;

/// Why a run has no result.
#[derive(Debug, Error)]
pub enum RunFailure {
    /// Something of the user's: a trace that became unreadable, a window in which nothing completed.
    #[error("{0}")]
    User(String),
    /// A bug: requests that never complete, an audit that does not hold.
    #[error("{0}")]
    Internal(String),
}

impl From<Failure> for RunFailure {
    fn from(failure: Failure) -> RunFailure {
        match failure {
            Failure::User(why) => RunFailure::User(why),
            Failure::Stuck(why) => RunFailure::Internal(why),
        }
    }
}

/// What bit errors led to in the window.
pub struct ErrorWindow {
    /// What the flash array counted.
    pub counters: ErrorCounters,
    /// Page reads by number of further attempts; the last entry holds those with more, too.
    pub by_attempts: [u64; MOST_ATTEMPTS_COUNTED + 1],
    /// Blocks rewritten.
    pub rewritten: Rewritten,
}

/// What a run measured.
pub struct Measured {
    /// Length of the window.
    pub simulated: Duration,
    /// Latencies, accounts and counts of the host.
    pub window: Window,
    /// What happened at the host interfaces and in the caches of the drives in the window.
    pub drive: DriveCounters,
    /// What the FTL did in the window.
    pub ftl: FtlCounters,
    /// What the flash array did in the window.
    pub nand: NandCounters,
    /// How the programs and erases that ended in the window went.
    pub operations: OperationStats,
    /// Time of all dies by use in the window, in ns; adds up to dies x window.
    pub uses: [u64; USES],
    /// The same of each die, drive by drive; without those of drives that came during the run.
    pub dies: Vec<[u64; USES]>,
    /// What bit errors led to in the window, if there are any.
    pub errors: Option<ErrorWindow>,
    /// What the flash array drew from its supplies in the window.
    pub power: power::Measured,
    /// Energy of the flash array in the window, audited, in nJ.
    pub energy_nj: u64,
    /// What the audits looked at; `None` if the run was stopped early.
    pub audits: Option<AuditReport>,
    /// What happened before the window; `None` if the run was stopped before it.
    pub warmed: Option<Warmed>,
    /// Blocks that the host wrote in the window on each lane, in the mean; `None` where it wrote nothing or nothing is
    /// collected.
    pub lane_blocks: Option<f64>,
    /// The window in batches.
    pub batches: Vec<Batch>,
    /// The run was stopped early.
    pub interrupted: bool,
    /// Time this run took, and CPU time of its thread.
    pub wall_s: f64,
    /// CPU time of the thread.
    pub cpu_s: f64,
    /// CPU time of the measurement window alone.
    pub window_cpu_s: f64,
}

/// What a run is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The load runs, and nothing is measured.
    WarmUp,
    /// The measurement window.
    Window,
}

/// Events of a run between two calls of its watcher, in requests: the batches at the start of a window are shorter.
const WATCHED: u64 = 1 << 14;

/// Takes a stepper that has not been opened through a run as `spec` says, after a warm-up. `progress` is told requests completed and
/// simulated time in the window every 64 Ki events and returns false to stop early.
pub fn run<D: Simulated, O: Recording, C: Clock>(
    stepper: &mut Stepper<D, O, C>,
    spec: &RunSpec,
    warmup: &Warmup,
    progress: &mut dyn FnMut(Stage, u64, Duration) -> bool,
) -> Result<Measured, RunFailure> {
    let (wall, cpu) = (Instant::now(), thread_cpu_s());
    let horizon = stepper.agenda.horizon();
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
    let start = stepper.agenda.now();
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
    let mut told = first;
    let pause = loop {
        if interrupted {
            break Pause::Stopped;
        }
        let next = batches.next().min(target);
        let mut go_on = |s: &Stepper<D, O, C>| {
            progress(Stage::Window, s.host.device.completed() - first, s.agenda.now().since(start))
        };
        let look = stepper.host.observer.next_look();
        let pause = stepper.run(limit.min(look), next, &mut go_on)?;
        let done = stepper.host.device.completed();
        if done >= told + WATCHED {
            told = done;
            if !go_on(stepper) {
                break Pause::Stopped;
            }
        }
        if pause == Pause::Limit && look < limit {
            // Nothing comes before it any more, even if the run is stopped here.
            stepper.agenda.advance_to(look);
            let Host { device, observer, .. } = &mut stepper.host;
            observer.look(device, look);
            if observer.is_done() {
                break Pause::Stopped;
            }
            continue;
        }
        if pause != Pause::Target {
            break pause;
        }
        if done >= batches.next() {
            let now = stepper.agenda.now();
            batches.look(&mut stepper.host, now);
        }
        if done >= target {
            break pause;
        }
    };
    if spec.time.is_some() && pause == Pause::Limit {
        stepper.agenda.advance_to(limit);
    }
    interrupted |= pause == Pause::Stopped;
    let end = stepper.agenda.now();
    let Host { device, observer, .. } = &mut stepper.host;
    observer.window_ends(device, end);
    let after = Readings::take(device, end);
    let power = match device.drives_mut() {
        [drive] => power::Measured::take(drive.nand_mut(), end, &before.spent),
        // Neither a trace nor a budget of power is read for an array.
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
        simulated,
        window,
        drive: drive_counters,
        ftl: done.ftl,
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

/// Lets what is outstanding complete, then audits.
fn finish<D: Simulated, O: Observer, C: Clock>(
    stepper: &mut Stepper<D, O, C>,
) -> Result<AuditReport, RunFailure> {
    stepper.close()?;
    let (device, now) = (&mut stepper.host.device, stepper.agenda.now());
    let units = |drive: &Drive| drive.logical_units() as usize;
    let entries: usize = device.drives().iter().map(units).sum();
    let audit = device.audit(now, entries.div_ceil(CONFIRMED_UNITS)).map_err(audit_failure)?;
    for drive in device.drives_mut() {
        let part = drive.spec().part.power.clone();
        power::audit_meter(drive.nand_mut(), &part, now).map_err(audit_failure)?;
    }
    Ok(audit)
}

/// How many blocks of each lane so many units are.
fn lane_blocks(drives: &[Drive], units: u64) -> Option<f64> {
    let collecting = drives.iter().filter(|drive| drive.collects()).map(Drive::layout);
    let one_each = collecting.map(|l| u64::from(l.lanes) * u64::from(l.units_per_block));
    let one_each: u64 = one_each.sum();
    (units > 0 && one_each > 0).then(|| units as f64 / one_each as f64)
}

fn audit_failure(why: String) -> RunFailure {
    RunFailure::Internal(format!("an audit does not hold: {why}"))
}

/// Cumulative counts at one instant.
struct Readings {
    done: Done,
    drive: DriveCounters,
    dies: Vec<[u64; USES]>,
    errors: Option<ErrorWindow>,
    spent: Spent,
}

impl Readings {
    fn take<D: Simulated>(of: &mut D, now: SimTime) -> Readings {
        let mut readings = Readings {
            done: Done::by(of, now),
            drive: DriveCounters::default(),
            dies: Vec::new(),
            errors: None,
            spent: Spent::default(),
        };
        for drive in of.drives_mut() {
            readings.dies.extend(drive.nand().dies().iter().map(|die| die.usage.uses()));
            readings.drive.add(&drive.counters);
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
