//! One run: warm-up, measurement window, drain, audits.

use crate::config::RunSpec;
use crate::power;
use interpulse_drive::drive::stats::WindowStats;
use interpulse_drive::drive::verify::AuditReport;
use interpulse_drive::drive::{Drive, Rewritten};
use interpulse_drive::ftl::FtlCounters;
use interpulse_drive::simulated::Simulated;
use interpulse_engine::{Agenda, Duration, SimTime};
use interpulse_flash::command::USES;
use interpulse_flash::nand::power::tally::Spent;
use interpulse_flash::nand::{
    ErrorCounters, MOST_ATTEMPTS_COUNTED, NandCounters, OperationStats, Reliability,
};
use std::time::Instant;
use thiserror::Error;

/// Events between two looks at the stop flag.
const CHUNK: u64 = 1 << 16;
/// Map entries confirmed by the audit at the end.
const CONFIRMED_ENTRIES: usize = 4 << 20;

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
    /// Latencies, accounts and counts at the host interface.
    pub window: WindowStats,
    /// What the FTL did in the window.
    pub ftl: FtlCounters,
    /// What the flash array did in the window.
    pub nand: NandCounters,
    /// How the programs and erases that ended in the window went.
    pub operations: OperationStats,
    /// Time of all dies by use in the window, in ns; adds up to dies x window.
    pub uses: [u64; USES],
    /// What bit errors led to in the window, if there are any.
    pub errors: Option<ErrorWindow>,
    /// What the flash array drew from its supplies in the window.
    pub power: power::Measured,
    /// Energy of the flash array in the window, audited, in nJ.
    pub energy_nj: u64,
    /// What the audits looked at; `None` if the run was stopped early.
    pub audits: Option<AuditReport>,
    /// The run was stopped early.
    pub interrupted: bool,
    /// Time this run took, and CPU time of its thread.
    pub wall_s: f64,
    /// CPU time of the thread.
    pub cpu_s: f64,
    /// CPU time of the measurement window alone.
    pub window_cpu_s: f64,
}

/// Runs `drive` as `spec` says. `progress` is told requests completed and simulated time in the window every
/// 64 Ki events and returns false to stop early.
pub fn run<D: Simulated>(
    drive: &mut D,
    agenda: &mut Agenda,
    spec: &RunSpec,
    progress: &mut dyn FnMut(u64, Duration) -> bool,
) -> Result<Measured, RunFailure> {
    let (wall, cpu) = (Instant::now(), thread_cpu_s());
    let asked = spec.warmup.as_ns().saturating_add(spec.time.map_or(0, Duration::as_ns));
    if asked > agenda.horizon().as_ns() {
        return Err(RunFailure::User(format!(
            "run.warmup and run.time together are longer than the {} that a drive of this size can simulate",
            agenda.horizon()
        )));
    }
    let mut stepper = Stepper { drive, agenda, stopped: false };
    stepper.drive.start(stepper.agenda);
    if spec.warmup > Duration::ZERO {
        let end = stepper.agenda.now() + spec.warmup;
        stepper.advance(end, u64::MAX, &mut |_| progress(0, Duration::ZERO))?;
        if !stepper.stopped && stepper.agenda.now() < end {
            stepper.agenda.advance_to(end);
        }
    }
    let window_cpu = thread_cpu_s();
    let start = stepper.agenda.now();
    let before = Readings::take(stepper.drive, start);
    stepper.drive.reset_window();
    for drive in stepper.drive.drives_mut() {
        drive.nand_mut().restart_power(start);
    }
    let first = stepper.drive.completed();
    let target = spec.requests.map_or(u64::MAX, |n| first.saturating_add(n));
    let limit = match spec.time {
        Some(time) => start + time,
        None => stepper.agenda.horizon(),
    };
    stepper.advance(limit, target, &mut |s| {
        progress(s.drive.completed() - first, Duration::from_ns(s.agenda.now().as_ns() - start.as_ns()))
    })?;
    if spec.time.is_some() && !stepper.stopped && stepper.drive.completed() < target && !stepper.is_done() {
        stepper.agenda.advance_to(limit);
    }
    let end = stepper.agenda.now();
    let after = Readings::take(stepper.drive, end);
    let power = match stepper.drive.drives_mut() {
        [drive] => power::Measured::take(drive.nand_mut(), end, &before.spent),
        // Neither a trace nor a budget of power is read for an array.
        _ => power::Measured { spent: after.spent.since(&before.spent), reading: None, waits: None },
    };
    let mut operations = OperationStats::default();
    for drive in stepper.drive.drives() {
        operations.merge(&drive.nand().operations);
    }
    let window = stepper.drive.end_window(end);
    let window_cpu_s = thread_cpu_s() - window_cpu;
    let interrupted = stepper.stopped;
    let audits = if interrupted { None } else { Some(finish(&mut stepper)?) };
    let simulated = Duration::from_ns(end.as_ns() - start.as_ns());
    let drives = stepper.drive.drives();
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
        ftl: after.ftl.since(&before.ftl),
        nand: after.nand.since(&before.nand),
        operations,
        power,
        energy_nj,
        uses: std::array::from_fn(|i| after.uses[i] - before.uses[i]),
        errors: after.errors.zip(before.errors).map(|(after, before)| after.since(&before)),
        audits,
        interrupted,
        wall_s: wall.elapsed().as_secs_f64(),
        cpu_s: thread_cpu_s() - cpu,
        window_cpu_s,
    })
}

/// Lets what is outstanding complete, then audits.
fn finish<D: Simulated>(stepper: &mut Stepper<D>) -> Result<AuditReport, RunFailure> {
    stepper.drive.close();
    stepper.advance(stepper.agenda.horizon(), u64::MAX, &mut |_| true)?;
    let units = |drive: &Drive| drive.tables().map().logical_units() as usize;
    let entries: usize = stepper.drive.drives().iter().map(units).sum();
    let stride = entries.div_ceil(CONFIRMED_ENTRIES);
    let audit = stepper.drive.audit(stepper.agenda.now(), stride);
    let audit = audit.map_err(audit_failure)?;
    let now = stepper.agenda.now();
    for drive in stepper.drive.drives_mut() {
        let part = drive.spec().part.power.clone();
        power::audit_meter(drive.nand_mut(), &part, now).map_err(audit_failure)?;
    }
    Ok(audit)
}

fn audit_failure(why: String) -> RunFailure {
    RunFailure::Internal(format!("an audit does not hold: {why}"))
}

struct Stepper<'a, D> {
    drive: &'a mut D,
    agenda: &'a mut Agenda,
    stopped: bool,
}

impl<D: Simulated> Stepper<'_, D> {
    /// Handles events up to and including `limit`, until `target` requests have completed, until nothing is
    /// left to do, or until `go_on` says no.
    fn advance(
        &mut self,
        limit: SimTime,
        target: u64,
        go_on: &mut dyn FnMut(&Self) -> bool,
    ) -> Result<(), RunFailure> {
        loop {
            let mut quiet = false;
            for _ in 0..CHUNK {
                if self.drive.completed() >= target || self.is_done() {
                    quiet = true;
                    break;
                }
                let Some((_, resource)) = self.agenda.next(limit) else {
                    quiet = true;
                    break;
                };
                self.drive.handle(self.agenda, resource);
                self.agenda.settle(resource);
            }
            if let Some(failure) = self.drive.failure() {
                return Err(RunFailure::User(failure.to_string()));
            }
            if quiet {
                if self.agenda.peek().is_none() && self.drive.outstanding() > 0 {
                    return Err(RunFailure::Internal(self.drive.diagnosis(self.agenda)));
                }
                return Ok(());
            }
            if !go_on(self) {
                self.stopped = true;
                return Ok(());
            }
        }
    }

    fn is_done(&self) -> bool {
        self.drive.outstanding() == 0 && self.drive.exhausted()
    }
}

/// Cumulative counts at one instant.
struct Readings {
    ftl: FtlCounters,
    nand: NandCounters,
    uses: [u64; USES],
    errors: Option<ErrorWindow>,
    spent: Spent,
}

impl Readings {
    fn take<D: Simulated>(of: &mut D, now: SimTime) -> Readings {
        let mut readings = Readings {
            ftl: Default::default(),
            nand: Default::default(),
            uses: [0; USES],
            errors: None,
            spent: Spent::default(),
        };
        for drive in of.drives_mut() {
            for die in drive.nand_mut().dies_mut() {
                die.usage.settle(now);
                for (to, from) in readings.uses.iter_mut().zip(die.usage.uses()) {
                    *to += from;
                }
            }
            readings.ftl.add(&drive.tables().counters);
            readings.nand.add(&drive.nand().counters);
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
