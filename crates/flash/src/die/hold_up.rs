//! Path of a die to power-loss save: its work on capacitor energy before it takes a program that saves data.

use super::{Die, LongOp, State};
use crate::hold_up::die_path::Path;
use crate::parts::power::Draw;
use crate::suspend::{LongOpStatus, SuspendPolicy, SuspendScheme};
use interpulse_engine::{Duration, SimTime};

/// Rules by which the operations on a die end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending<'a> {
    /// How programs are suspended.
    pub program: &'a SuspendPolicy,
    /// How erases are.
    pub erase: &'a SuspendPolicy,
    /// Erases are stopped and not resumed; else they run to their end.
    pub stops_erases: bool,
    /// Loading the page buffer of a suspended program again.
    pub reload: Duration,
    /// Submission of the host write that has waited longest.
    pub oldest_write: Option<SimTime>,
}

impl<'a> Ending<'a> {
    /// How this operation is suspended.
    fn of(&self, op: &LongOp) -> &'a SuspendPolicy {
        if op.erases() { self.erase } else { self.program }
    }
}

impl Die {
    /// Work of the die until it takes save data. Reads, and operations without a pulse so far, are dropped.
    pub(crate) fn path_to_save(&self, now: SimTime, ending: &Ending) -> Path {
        let mut path = Path::default();
        let Some(op) = &self.long else { return path };
        let stops = op.erases() && ending.stops_erases;
        match self.state {
            State::Pulsing | State::Stopping => self.path_of_pulses(&mut path, now, op, ending),
            State::Entering => {
                path.then(Draw::Entry, (op.halted + op.stop.entry).since(now));
                path.holds = stops;
            }
            State::Resuming => {
                let reloads = !op.erases() && !op.between_slices;
                let reload = if reloads { ending.reload } else { Duration::ZERO };
                let left = (self.since() + op.stop.resume + reload).since(now);
                path.then(Draw::Resume, left.min(op.stop.resume + reload));
                if stops {
                    stop(&mut path, op, &self.stands_resumed(op, now + left, ending), ending);
                } else {
                    on(&mut path, op, ending);
                }
            }
            _ => path.holds = stops && op.has_halted(),
        }
        let waits =
            op.has_halted() && !matches!(self.state, State::Pulsing | State::Stopping | State::Resuming);
        if waits && !path.holds {
            resume(&mut path, op, ending);
        }
        if let Some(erase) = &self.beneath {
            if ending.stops_erases {
                path.holds = true;
            } else {
                resume(&mut path, erase, ending);
            }
        }
        path
    }

    fn path_of_pulses(&self, path: &mut Path, now: SimTime, op: &LongOp, ending: &Ending) {
        if !op.has_halted() && op.began >= now {
            return;
        }
        if op.erases() && ending.stops_erases {
            stop(path, op, &self.progress_at(now, ending.oldest_write), ending);
            return;
        }
        let (elapsed, ahead) = self.progress(now);
        let draws = op.kind.train().draws;
        path.then(draws[0], ahead);
        run_to_end(path, op, draws, elapsed, ending.of(op));
    }

    fn stands_resumed<'a>(&self, op: &'a LongOp, now: SimTime, ending: &Ending) -> LongOpStatus<'a> {
        LongOpStatus {
            train: &op.train,
            elapsed: op.kept,
            committed: true,
            planes: op.width,
            suspends: op.suspends,
            first_suspend: op.first_suspend,
            resumed: now,
            suspended: op.suspended,
            now,
            oldest_write: ending.oldest_write,
        }
    }
}

/// Stops the erase by its scheme; without a stop the erase runs to its end.
fn stop(path: &mut Path, op: &LongOp, at: &LongOpStatus, ending: &Ending) {
    let draws = op.kind.train().draws;
    if let Some(stop) = ending.erase.final_stop(at) {
        path.run(op.train, draws, at.elapsed, at.elapsed + stop.after);
        path.then(Draw::Entry, stop.entry);
        path.holds = true;
    } else {
        run_to_end(path, op, draws, at.elapsed, ending.erase);
    }
}

/// Runs a suspended operation to its end.
fn resume(path: &mut Path, op: &LongOp, ending: &Ending) {
    path.then(Draw::Reload, if op.erases() { Duration::ZERO } else { ending.reload });
    path.then(Draw::Resume, op.stop.resume);
    on(path, op, ending);
}

/// Remaining pulses of a suspended operation, the first with its ramp.
fn on(path: &mut Path, op: &LongOp, ending: &Ending) {
    let policy = ending.of(op);
    let draws = op.kind.train().draws;
    if op.train.is_inside_pulse(op.kept) && !policy.costs_nothing() {
        path.then(draws[0], policy.resume_ramp);
    }
    run_to_end(path, op, draws, op.kept, policy);
}

/// The pulses from progress `from` on, with the commands of the slices between, if it has any.
fn run_to_end(path: &mut Path, op: &LongOp, draws: [Draw; 3], from: Duration, policy: &SuspendPolicy) {
    let slices = policy.scheme.slices().filter(|_| op.sliced);
    path.run_slices(op.train, draws, from, slices);
}
